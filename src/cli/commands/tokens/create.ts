import { createToken } from '../../../areas/people/credentials/tokens.js'
import { viewNewToken } from '../../../areas/people/credentials/tokens.view.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { tokenEnd } from '../../input/token-end.js'
import { Flags } from '../../oclif.js'

export default class TokensCreate extends BaseCommand {
  static override summary = 'Create a personal access token, and print it; it is never shown again'
  static override description =
    'The scope api allows everything that the user may do; read_user only allows reading users. A token expires at the start of its expiry day in UTC. With --json: the record with its token as in POST /personal_access_tokens.'
  static override examples = [
    '<%= config.bin %> tokens create --user ada --name backup --expires-in 90d',
    '<%= config.bin %> tokens create --user ada --name directory --scope read_user --expires-at 2027-12-31 --json'
  ]
  static override flags = {
    user: Flags.string({ required: true, description: 'the user of the token: username, mail address or number' }),
    name: Flags.string({ required: true, description: 'a name that describes the purpose of the token' }),
    scope: Flags.option({
      options: ['api', 'read_user'] as const,
      multiple: true,
      description: 'scope of the token; you can give both (default: api)'
    })(),
    'expires-in': Flags.string({ description: 'expire after this time, such as 90d', exclusive: ['expires-at'] }),
    'expires-at': Flags.string({ description: 'expire on this day, such as 2027-12-31 (default: never)' })
  }

  async run() {
    const { flags } = await this.parse(TokensCreate)
    this.configure(flags)
    const body = {
      name: flags.name,
      scopes: flags.scope,
      expires_at: tokenEnd({ within: flags['expires-in'], at: flags['expires-at'] })
    }
    const made = await withDatabase(async () =>
      viewNewToken(await createToken(await requireUser(flags.user), body, commandOrigin()))
    )
    const end = made.expires_at === null ? 'does not expire' : `expires on ${made.expires_at}`
    this.log(`created token ${made.id} (${made.scopes.join(', ')}; ${end})\ntoken: ${made.token}`)
    return made
  }
}

import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class TokensCreate extends BaseCommand {
  static override summary = 'Create a personal access token; prints it this once'
  static override description =
    'Scope api opens everything that its user may do, read_user only what is read of users. A token ends when the day begins (UTC) on which it expires. With --json: the record with its token, as POST /personal_access_tokens answers.'
  static override examples = [
    '<%= config.bin %> tokens create --user ada --name backup --expires-in 90d',
    '<%= config.bin %> tokens create --user ada --name directory --scope read_user --expires-at 2027-12-31 --json'
  ]
  static override flags = {
    user: Flags.string({ required: true, description: 'whose it is: username, mail address or number' }),
    name: Flags.string({ required: true, description: 'what it is for' }),
    scope: Flags.option({
      options: ['api', 'read_user'] as const,
      multiple: true,
      description: 'what it opens; may be given twice (default: api)'
    })(),
    'expires-in': Flags.string({ description: 'a time from now such as 90d', exclusive: ['expires-at'] }),
    'expires-at': Flags.string({ description: 'a day such as 2027-12-31 (default: it does not expire)' })
  }

  async run() {
    const { flags } = await this.parse(TokensCreate)
    this.configure(flags)
    const { tokenEnd } = await import('../../token-end.js')
    const body = {
      name: flags.name,
      scopes: flags.scope,
      expires_at: tokenEnd({ within: flags['expires-in'], at: flags['expires-at'] })
    }
    const [{ withDatabase }, { commandOrigin }, { requireUser }, { createToken }, { viewNewToken }] = await Promise.all(
      [
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/users/users.queries.js'),
        import('../../../areas/credentials/tokens.js'),
        import('../../../areas/credentials/tokens.view.js')
      ]
    )
    const made = await withDatabase(async () =>
      viewNewToken(await createToken(await requireUser(flags.user), body, commandOrigin()))
    )
    const end = made.expires_at === null ? 'does not expire' : `expires on ${made.expires_at}`
    this.log(`created token ${made.id} (${made.scopes.join(', ')}; ${end})\ntoken: ${made.token}`)
    return made
  }
}

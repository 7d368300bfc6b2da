import { createScimToken } from '../../../../areas/people/scim/scim-tokens.js'
import { viewScimToken } from '../../../../areas/people/scim/scim-tokens.record.js'
import { publicUrl } from '../../../../config.js'
import { BaseCommand } from '../../../framework/base.js'
import { commandOrigin } from '../../../framework/origin.js'
import { withDatabase } from '../../../framework/with-database.js'
import { tokenEnd } from '../../../input/token-end.js'
import { Flags } from '../../../oclif.js'

export default class ScimTokensCreate extends BaseCommand {
  static override summary = 'Let a directory manage accounts: create its token, and print it; it is never shown again'
  static override description =
    'The directory sends the token to /scim/v2 as `Authorization: Bearer`. It works nowhere else. With --json: the record as in `scim tokens list`, with token.'
  static override examples = [
    '<%= config.bin %> scim tokens create --name okta --expires-in 365d',
    '<%= config.bin %> scim tokens create --name entra --json'
  ]
  static override flags = {
    name: Flags.string({ required: true, description: 'the name of the directory, which the audit shows' }),
    'expires-in': Flags.string({ description: 'expire after this time, such as 365d', exclusive: ['expires-at'] }),
    'expires-at': Flags.string({ description: 'expire on this day, such as 2027-12-31 (default: never)' })
  }

  async run() {
    const { flags } = await this.parse(ScimTokensCreate)
    this.configure(flags)
    const expires_at = tokenEnd({ within: flags['expires-in'], at: flags['expires-at'] })
    const { row, token } = await withDatabase(() => createScimToken({ name: flags.name, expires_at }, commandOrigin()))
    const record = viewScimToken(row)
    const end = record.expires_at === null ? 'does not expire' : `expires on ${record.expires_at}`
    this.log(`created SCIM token ${record.id} (${end})\naddress: ${publicUrl()}/scim/v2\ntoken: ${token}`)
    return { ...record, token }
  }
}

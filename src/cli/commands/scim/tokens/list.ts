import { listScimTokens } from '../../../../areas/people/scim/scim-tokens.js'
import { viewScimToken } from '../../../../areas/people/scim/scim-tokens.record.js'
import { BaseCommand } from '../../../framework/base.js'
import { withDatabase } from '../../../framework/with-database.js'
import { table } from '../../../output/table.js'

export default class ScimTokensList extends BaseCommand {
  static override summary = 'List the tokens of directories, newest first'
  static override description =
    'The tokens themselves are never shown: the database does not contain them. With --json: {tokens}; expires_at is the day (UTC) at the beginning of which a token expires.'
  static override examples = ['<%= config.bin %> scim tokens list', '<%= config.bin %> scim tokens list --json']

  async run() {
    const { flags } = await this.parse(ScimTokensList)
    this.configure(flags)
    const tokens = (await withDatabase(listScimTokens)).map(viewScimToken)
    this.log(
      table(tokens, [
        ['ID', token => token.id],
        ['NAME', token => token.name],
        ['STATE', token => token.state],
        ['EXPIRES', token => token.expires_at],
        ['LAST USED', token => token.last_used_at],
        ['CREATED', token => token.created_at]
      ])
    )
    return { tokens }
  }
}

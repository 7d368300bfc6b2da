import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class TokensList extends BaseCommand {
  static override summary = 'List personal access tokens, newest first'
  static override description =
    'Tokens themselves are never shown: the database does not have them. With --json: {tokens, total}, each as GET /personal_access_tokens/:id has it; total counts also those beyond --limit.'
  static override examples = [
    '<%= config.bin %> tokens list',
    '<%= config.bin %> tokens list --user ada --all',
    '<%= config.bin %> tokens list --user ada@example.org --json'
  ]
  static override flags = {
    user: Flags.string({ description: 'only those of a user: username, mail address or number' }),
    all: Flags.boolean({ description: 'also those that are revoked or expired' }),
    limit: Flags.integer({ default: 100, min: 1, max: 10_000, description: 'how many at the most' })
  }

  async run() {
    const { flags } = await this.parse(TokensList)
    this.configure(flags)
    const [{ withDatabase }, { requireUser }, { endOf, listTokens, stateOf }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../areas/users/users.queries.js'),
      import('../../../areas/credentials/tokens.queries.js')
    ])
    const { items, total } = await withDatabase(async () => {
      const userId = flags.user === undefined ? undefined : (await requireUser(flags.user)).id
      return listTokens({ userId, state: flags.all ? undefined : 'active' }, `limit ${flags.limit}`)
    })
    // Either alone: the view brings the schema library along.
    if (this.jsonEnabled()) {
      const { viewToken } = await import('../../../areas/credentials/tokens.view.js')
      return { tokens: items.map(viewToken), total }
    }
    const { table } = await import('../../table.js')
    this.log(
      table(items, [
        ['ID', token => token.id],
        ['USER', token => token.username],
        ['NAME', token => token.name],
        ['SCOPES', token => token.scopes],
        ['STATE', stateOf],
        ['EXPIRES', endOf],
        ['LAST USED', token => token.last_used_at],
        ['CREATED', token => token.created_at]
      ])
    )
    if (total > items.length) this.logToStderr(`${items.length} of ${total} tokens: more by --limit`)
    return undefined
  }
}

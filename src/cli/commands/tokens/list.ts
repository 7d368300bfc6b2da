import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class TokensList extends BaseCommand {
  static override summary = 'List personal access tokens, newest first'
  static override description =
    'The tokens themselves are never shown: the database does not contain them. With --json: {tokens, total}, each in the form of GET /personal_access_tokens/:id; total also counts the tokens beyond --limit.'
  static override examples = [
    '<%= config.bin %> tokens list',
    '<%= config.bin %> tokens list --user ada --all',
    '<%= config.bin %> tokens list --user ada@example.org --json'
  ]
  static override flags = {
    user: Flags.string({ description: 'only tokens of this user: username, mail address or number' }),
    all: Flags.boolean({ description: 'also list revoked and expired tokens' }),
    limit: Flags.integer({ default: 100, min: 1, max: 10_000, description: 'show at most this many tokens' })
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
    // Load the view for --json alone: it brings the schema library along.
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
    if (total > items.length) this.logToStderr(`${items.length} of ${total} tokens: raise --limit to see more`)
    return undefined
  }
}

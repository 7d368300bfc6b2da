import type { TokenRow as Row } from '../../../areas/people/credentials/tokens.queries.js'
import { listTokens, tokensBefore } from '../../../areas/people/credentials/tokens.queries.js'
import { endOf, stateOf } from '../../../areas/people/credentials/tokens.state.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

const COLUMNS: readonly Column<Row>[] = [
  ['ID', token => token.id],
  ['USER', token => token.username],
  ['NAME', token => token.name],
  ['SCOPES', token => token.scopes],
  ['STATE', stateOf],
  ['EXPIRES', endOf],
  ['LAST USED', token => token.last_used_at],
  ['CREATED', token => token.created_at]
]

export default class TokensList extends BaseCommand {
  static override summary = 'List personal access tokens, newest first'
  static override description =
    'The tokens themselves are never shown: the database does not contain them. With --json: {tokens, total}, each as in GET /personal_access_tokens/:id; total also counts the tokens beyond --limit.'
  static override examples = [
    '<%= config.bin %> tokens list',
    '<%= config.bin %> tokens list --user ada --all',
    '<%= config.bin %> tokens list --user ada@example.org --json'
  ]
  static override flags = {
    user: Flags.string({ description: 'only tokens of this user: username, mail address or number' }),
    ...allFlag(),
    state: Flags.option({
      options: ['active', 'inactive'] as const,
      description: 'only valid tokens, or only revoked and expired tokens (default: active; with --all: both)'
    })(),
    limit: Flags.integer({ default: 100, min: 1, max: 10_000, description: 'show at most this many tokens' })
  }

  async run() {
    const { flags } = await this.parse(TokensList)
    this.configure(flags)
    const filterOf = async () => ({
      userId: flags.user === undefined ? undefined : (await requireUser(flags.user)).id,
      state: flags.state ?? (flags.all ? undefined : ('active' as const))
    })
    return withDatabase(async () => {
      const filter = await filterOf()
      return printList({
        name: 'tokens',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: async () => (await import('../../../areas/people/credentials/tokens.view.js')).viewToken,
        first: () => listTokens(filter, `limit ${flags.limit}`),
        part: (last = Number.MAX_SAFE_INTEGER) => tokensBefore(filter, last),
        idOf: ({ id }) => id
      })
    })
  }
}

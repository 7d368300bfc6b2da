import type { ListedUserRow as Row } from '../../../areas/people/users/users.queries.js'
import { listUsersWithUse, usersBefore } from '../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { readMoment } from '../../input/moment.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

const COLUMNS: readonly Column<Row>[] = [
  ['ID', user => user.id],
  ['USERNAME', user => user.username],
  ['NAME', user => user.name],
  ['EMAIL', user => user.email],
  ['STATE', user => (user.block_reason === null ? user.state : `${user.state}: ${user.block_reason}`)],
  ['ADMIN', user => user.admin === 1],
  ['EXTERNAL', user => user.external === 1],
  ['SIGNED IN', user => user.current_sign_in_at],
  ['LAST USE', user => user.last_used_at]
]

export default class UsersList extends BaseCommand {
  static override summary = 'List users, newest first'
  static override description =
    'Lists the users that match all given filters. With --json: {users, total}, each user as the API shows it to an administrator, with last_used_at and block_reason; block_reason is why a blocked user may come back; last_used_at is the last sign-in, use of a token or use of git, updated at most once an hour; total counts all pages. With --all --json, each user is one line.'
  static override examples = [
    '<%= config.bin %> users list --search example.org',
    '<%= config.bin %> users list --admins --active --json',
    '<%= config.bin %> users list --active --dormant 90d',
    '<%= config.bin %> users list --per-page 20 --page 2',
    '<%= config.bin %> users list --all --json > users.json'
  ]
  static override flags = {
    search: Flags.string({ description: 'only users with this text in their name, username or mail address' }),
    active: Flags.boolean({ description: 'only users who are not blocked', exclusive: ['blocked'] }),
    blocked: Flags.boolean({ description: 'only blocked users' }),
    pending: Flags.boolean({ description: 'only users whom an administrator must approve', exclusive: ['active'] }),
    admins: Flags.boolean({ description: 'only administrators' }),
    external: Flags.boolean({ description: 'only external users' }),
    dormant: Flags.string({
      description:
        'only users who have not signed in or used the API or git for this long, such as 90d, or since a date'
    }),
    page: Flags.integer({ default: 1, min: 1, max: 1_000_000, description: 'the number of the page, from 1' }),
    'per-page': Flags.integer({ default: 100, min: 1, max: 100, description: 'users on a page' }),
    ...allFlag(['page', 'per-page'])
  }

  async run() {
    const { flags } = await this.parse(UsersList)
    this.configure(flags)
    const { search, active, blocked, pending, admins, external, page } = flags
    const dormantSince = flags.dormant === undefined ? undefined : readMoment('--dormant', flags.dormant)
    const query = {
      search,
      active,
      blocked,
      pending,
      admins,
      external,
      dormantSince,
      page,
      per_page: flags['per-page']
    }
    return withDatabase(() =>
      printList({
        name: 'users',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: viewer,
        first: () => listUsersWithUse(query),
        part: (last = Number.MAX_SAFE_INTEGER) => usersBefore(query, last),
        idOf: ({ id }) => id,
        hint: 'use --page or --all to see more'
      })
    )
  }
}

async function viewer() {
  const { viewUserForAdmin } = await import('../../../areas/people/users/users.record.js')
  return (user: Row) => ({
    ...viewUserForAdmin(user),
    last_used_at: user.last_used_at,
    block_reason: user.block_reason
  })
}

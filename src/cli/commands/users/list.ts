import { BaseCommand } from '../../base.js'
import { allFlag } from '../../list-all.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../table.js'

type Row = import('../../../areas/users/users.queries.js').UserRow

const COLUMNS: readonly Column<Row>[] = [
  ['ID', user => user.id],
  ['USERNAME', user => user.username],
  ['NAME', user => user.name],
  ['EMAIL', user => user.email],
  ['STATE', user => user.state],
  ['ADMIN', user => user.admin === 1],
  ['EXTERNAL', user => user.external === 1],
  ['SIGNED IN', user => user.current_sign_in_at]
]

export default class UsersList extends BaseCommand {
  static override summary = 'List users, newest first'
  static override description =
    'Several filters list the users that pass all of them. With --json: {users, total}, each user as the API shows it to an administrator; total counts all pages. With --all --json, each user is a line of its own.'
  static override examples = [
    '<%= config.bin %> users list --search example.org',
    '<%= config.bin %> users list --admins --active --json',
    '<%= config.bin %> users list --per-page 20 --page 2',
    '<%= config.bin %> users list --all --json > users.json'
  ]
  static override flags = {
    search: Flags.string({ description: 'a part of the name, the username or the mail address' }),
    active: Flags.boolean({ description: 'only users who may sign in', exclusive: ['blocked'] }),
    blocked: Flags.boolean({ description: 'only blocked users' }),
    admins: Flags.boolean({ description: 'only administrators' }),
    external: Flags.boolean({ description: 'only external users' }),
    page: Flags.integer({ default: 1, min: 1, max: 1_000_000, description: 'the number of the page, from 1' }),
    'per-page': Flags.integer({ default: 100, min: 1, max: 100, description: 'users on a page' }),
    ...allFlag(['page', 'per-page'])
  }

  async run() {
    const { flags } = await this.parse(UsersList)
    this.configure(flags)
    const [{ withDatabase }, { listUsers, usersBefore }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../areas/users/users.queries.js')
    ])
    const { search, active, blocked, admins, external, page } = flags
    const query = { search, active, blocked, admins, external, page, per_page: flags['per-page'] }
    if (flags.all) {
      const { printAll } = await import('../../list-all.js')
      return withDatabase(() =>
        printAll({
          name: 'users',
          json: this.jsonEnabled(),
          columns: COLUMNS,
          view: async () => (await import('../../../areas/users/users.record.js')).viewUserForAdmin,
          part: (last = Number.MAX_SAFE_INTEGER) => usersBefore(query, { admin: true }, last),
          idOf: ({ id }) => id
        })
      )
    }
    const { items, total } = await withDatabase(() => listUsers(query, { admin: true }))
    // Load the view for --json alone: it brings the schema library along, a third of the time that this command takes.
    if (this.jsonEnabled()) {
      const { viewUserForAdmin } = await import('../../../areas/users/users.record.js')
      return { users: items.map(viewUserForAdmin), total }
    }
    const { table } = await import('../../table.js')
    this.log(table(items, COLUMNS))
    if (items.length < total) this.logToStderr(`${items.length} of ${total} users: use --page or --all to see more`)
    return undefined
  }
}

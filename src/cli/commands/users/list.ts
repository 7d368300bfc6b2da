import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class UsersList extends BaseCommand {
  static override summary = 'List users, newest first'
  static override description =
    'Several filters list the users that pass all of them. With --json: {users, total}, each user as the API shows it to an administrator; total counts all pages.'
  static override examples = [
    '<%= config.bin %> users list --search example.org',
    '<%= config.bin %> users list --admins --active --json',
    '<%= config.bin %> users list --per-page 20 --page 2'
  ]
  static override flags = {
    search: Flags.string({ description: 'a part of the name, the username or the mail address' }),
    active: Flags.boolean({ description: 'only users who may sign in', exclusive: ['blocked'] }),
    blocked: Flags.boolean({ description: 'only blocked users' }),
    admins: Flags.boolean({ description: 'only administrators' }),
    external: Flags.boolean({ description: 'only external users' }),
    page: Flags.integer({ default: 1, min: 1, max: 1_000_000, description: 'the number of the page, from 1' }),
    'per-page': Flags.integer({ default: 100, min: 1, max: 100, description: 'users on a page' })
  }

  async run() {
    const { flags } = await this.parse(UsersList)
    this.configure(flags)
    const [{ withDatabase }, { listUsers }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../areas/users/users.queries.js')
    ])
    const { search, active, blocked, admins, external, page } = flags
    const query = { search, active, blocked, admins, external, page, per_page: flags['per-page'] }
    const { items, total } = await withDatabase(() => listUsers(query, { admin: true }))
    // Load the view for --json alone: it brings the schema library along, a third of the time that this command takes.
    if (this.jsonEnabled()) {
      const { viewUserForAdmin } = await import('../../../areas/users/users.record.js')
      return { users: items.map(viewUserForAdmin), total }
    }
    const { table } = await import('../../table.js')
    this.log(
      table(items, [
        ['ID', user => user.id],
        ['USERNAME', user => user.username],
        ['NAME', user => user.name],
        ['EMAIL', user => user.email],
        ['STATE', user => user.state],
        ['ADMIN', user => user.admin === 1],
        ['EXTERNAL', user => user.external === 1],
        ['SIGNED IN', user => user.current_sign_in_at]
      ])
    )
    if (items.length < total) this.logToStderr(`${items.length} of ${total} users: use --page to see more`)
    return undefined
  }
}

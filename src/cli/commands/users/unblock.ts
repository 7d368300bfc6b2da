import { BaseCommand } from '../../base.js'
import { Args } from '../../oclif.js'

export default class UsersUnblock extends BaseCommand {
  static override summary = 'Unblock a user: they may sign in again'
  static override description =
    'Tokens and keys of the user work again; their old sessions do not. With --json: the user as the API shows it to an administrator.'
  static override examples = [
    '<%= config.bin %> users unblock ada bob',
    '<%= config.bin %> users unblock ada@example.org --json'
  ]
  static override strict = false
  static override args = {
    user: Args.string({
      required: true,
      description: 'the user: username, mail address or number; you can give several'
    })
  }

  async run() {
    const { argv, flags } = await this.parse(UsersUnblock)
    this.configure(flags)
    const [
      { doEach },
      { withDatabase },
      { commandOrigin },
      { unblockUser },
      { requireNumberedUser, requireUser },
      view
    ] = await Promise.all([
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/users/user-state.js'),
      import('../../../areas/users/users.queries.js'),
      import('../../../areas/users/users.record.js')
    ])
    const unblock = async (name: string) => {
      const { id } = await requireUser(name)
      const changed = await unblockUser(id, commandOrigin())
      const user = view.viewUserForAdmin(await requireNumberedUser(String(id)))
      this.log(changed ? `unblocked user ${user.username}` : `user ${user.username} is not blocked`)
      return user
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), unblock))
  }
}

import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class UsersUnblock extends BaseCommand {
  static override summary = 'Unblock a user: they may sign in again'
  static override description =
    'Tokens and keys of the user work again; their old sessions do not. With --json: the user as the API shows it to an administrator.'
  static override examples = [
    '<%= config.bin %> users unblock ada',
    '<%= config.bin %> users unblock ada@example.org --json'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'the user: username, mail address or number' })
  }

  async run() {
    const { args, flags } = await this.parse(UsersUnblock)
    this.configure(flags)
    const [{ withDatabase }, { commandOrigin }, { unblockUser }, { requireNumberedUser, requireUser }, view] =
      await Promise.all([
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/users/user-state.js'),
        import('../../../areas/users/users.queries.js'),
        import('../../../areas/users/users.record.js')
      ])
    const { changed, user } = await withDatabase(async () => {
      const { id } = await requireUser(args.user)
      const changed = await unblockUser(id, commandOrigin())
      return { changed, user: view.viewUserForAdmin(await requireNumberedUser(String(id))) }
    })
    this.log(changed ? `unblocked user ${user.username}` : `user ${user.username} is not blocked`)
    return user
  }
}

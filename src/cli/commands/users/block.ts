import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class UsersBlock extends BaseCommand {
  static override summary = 'Block a user: all their access ends at once'
  static override description =
    'The sessions of the user end, and their password, tokens and keys are refused. Projects, memberships and all content stay. The last active administrator cannot be blocked. With --json: the user as the API shows it to an administrator.'
  static override examples = [
    '<%= config.bin %> users block ada',
    '<%= config.bin %> users block ada@example.org --json'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'the user: username, mail address or number' })
  }

  async run() {
    const { args, flags } = await this.parse(UsersBlock)
    this.configure(flags)
    const [{ withDatabase }, { commandOrigin }, { blockUser }, { requireNumberedUser, requireUser }, view] =
      await Promise.all([
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/users/user-state.js'),
        import('../../../areas/users/users.queries.js'),
        import('../../../areas/users/users.record.js')
      ])
    const { changed, user } = await withDatabase(async () => {
      const { id } = await requireUser(args.user)
      const changed = await blockUser(id, commandOrigin())
      return { changed, user: view.viewUserForAdmin(await requireNumberedUser(String(id))) }
    })
    this.log(changed ? `blocked user ${user.username}` : `user ${user.username} is already blocked`)
    return user
  }
}

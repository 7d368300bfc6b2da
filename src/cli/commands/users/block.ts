import { blockUser } from '../../../areas/people/users/user-state.js'
import { requireNumberedUser, requireUser } from '../../../areas/people/users/users.queries.js'
import * as view from '../../../areas/people/users/users.record.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { namedUsers } from '../../input/named-users.js'

export default class UsersBlock extends BaseCommand {
  static override summary = 'Block a user; all their access ends at once'
  static override description =
    'The sessions of the user end, and their password, tokens and keys are refused. Projects, memberships and all content are kept. The last active administrator cannot be blocked. With --json: the user as the API shows it to an administrator.'
  static override examples = [
    '<%= config.bin %> users block ada bob',
    '<%= config.bin %> users block ada@example.org --json'
  ]
  static override strict = false
  static override args = namedUsers

  async run() {
    const { argv, flags } = await this.parse(UsersBlock)
    this.configure(flags)
    const block = async (name: string) => {
      const { id } = await requireUser(name)
      const changed = await blockUser(id, commandOrigin())
      const user = view.viewUserForAdmin(await requireNumberedUser(String(id)))
      this.log(changed ? `blocked user ${user.username}` : `user ${user.username} is already blocked`)
      return user
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), block))
  }
}

import { unblockUser } from '../../../areas/people/users/user-state.js'
import { requireNumberedUser, requireUser } from '../../../areas/people/users/users.queries.js'
import * as view from '../../../areas/people/users/users.record.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { namedUsers } from '../../input/named-users.js'

export default class UsersUnblock extends BaseCommand {
  static override summary = 'Unblock a user, who can then sign in again'
  static override description =
    'Tokens and keys of the user work again; their old sessions do not. With --json: the user as the API shows it to an administrator.'
  static override examples = [
    '<%= config.bin %> users unblock ada bob',
    '<%= config.bin %> users unblock ada@example.org --json'
  ]
  static override strict = false
  static override args = namedUsers

  async run() {
    const { argv, flags } = await this.parse(UsersUnblock)
    this.configure(flags)
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

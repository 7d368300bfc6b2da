import { approveUser } from '../../../areas/people/users/suspension.js'
import { requireNumberedUser, requireUser } from '../../../areas/people/users/users.queries.js'
import * as view from '../../../areas/people/users/users.record.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { namedUsers } from '../../input/named-users.js'

export default class UsersApprove extends BaseCommand {
  static override summary = 'Approve a new user, who can then sign in'
  static override description =
    'The user gets a mail. `users list --pending` lists the users who wait for approval (identity.accounts.approval). With --json: the user as the API shows it to an administrator.'
  static override examples = [
    '<%= config.bin %> users approve ada bob',
    '<%= config.bin %> users approve ada@example.org --json'
  ]
  static override strict = false
  static override args = namedUsers

  async run() {
    const { argv, flags } = await this.parse(UsersApprove)
    this.configure(flags)
    const approve = async (name: string) => {
      const { id, username } = await requireUser(name)
      await approveUser({ id, username }, commandOrigin())
      this.log(`approved user ${username}`)
      return view.viewUserForAdmin(await requireNumberedUser(String(id)))
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), approve))
  }
}

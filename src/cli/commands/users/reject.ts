import { requireUser } from '../../../areas/people/users/users.queries.js'
import * as view from '../../../areas/people/users/users.record.js'
import { rejectUser } from '../../../areas/upkeep/removal/user-deletion.js'
import { BaseCommand } from '../../framework/base.js'
import { destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { destroyEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { namedUsers } from '../../input/named-users.js'

type ShownUser = ReturnType<typeof view.viewUserForAdmin>

export default class UsersReject extends BaseCommand {
  static override summary = 'Reject a new user, and delete the account'
  static override description =
    'The user gets a mail. Only users who wait for approval can be rejected (`users list --pending`). The command asks for confirmation at the terminal, or needs --yes. With --json: {deleted: user}, or with --dry-run {would_delete: user}.'
  static override examples = [
    '<%= config.bin %> users reject ada --yes',
    '<%= config.bin %> users reject ada bob --yes --json'
  ]
  static override strict = false
  static override args = namedUsers
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { argv, flags } = await this.parse(UsersReject)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    const dryRun = flags['dry-run'] === true
    if (!dryRun) requireAnswer(how)
    const destroy = async (user: ShownUser) => {
      if (dryRun) this.log(`would delete user ${user.username}`)
      if (dryRun) return { would_delete: user }
      await rejectUser(user, commandOrigin())
      this.log(`rejected user ${user.username}`)
      return { deleted: user }
    }
    const find = async (name: string) => view.viewUserForAdmin(await requireUser(name))
    const loss = ({ username, email }: ShownUser) => `would delete user ${username} (${email})`
    return withDatabase(() =>
      destroyEach<string, ShownUser, object>(argv.map(String), { find, loss, destroy, how, dryRun })
    )
  }
}

import { requireUser } from '../../../areas/people/users/users.queries.js'
import * as view from '../../../areas/people/users/users.record.js'
import type { UserDeletion } from '../../../areas/upkeep/removal/user-deletion.js'
import * as rules from '../../../areas/upkeep/removal/user-deletion.js'
import { Conflict, NoSuch } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { destroyEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { namedUsers } from '../../input/named-users.js'
import { Flags } from '../../oclif.js'
import { summaryOf } from '../../output/deletion-summary.js'

type ShownUser = ReturnType<typeof import('../../../areas/people/users/users.record.js').viewUserForAdmin>

export default class UsersDelete extends BaseCommand {
  static override summary = 'Delete a user and everything that belongs only to them'
  static override description =
    'Deletes the personal projects of the user with their repositories and builds, and the keys, addresses, tokens, sessions, identities, memberships and activities of the user. Pipelines, builds and pushes in other projects are kept, without the name. This cannot be undone, except that `restore --project` restores projects from a backup: use --dry-run first, or block the user instead. With --keep-contributions, the issues, merge requests, comments and project snippets of the user stay, and show the ghost user as their author; the user is blocked first, and a second call continues what a killed one began. The command asks for confirmation at the terminal, or needs --yes. The last active administrator and the only owner of a group cannot be deleted. With --json: {deleted: user}, or with --dry-run {would_delete: user, only_owner_of, last_admin, goes, stays, given}.'
  static override examples = [
    '<%= config.bin %> users delete ada --dry-run',
    '<%= config.bin %> users delete ada --yes',
    '<%= config.bin %> users delete ada --keep-contributions --yes',
    '<%= config.bin %> users delete 42 --yes --json'
  ]
  static override strict = false
  static override args = namedUsers
  static override flags = {
    'keep-contributions': Flags.boolean({
      description: 'leave issues, merge requests, comments and project snippets to the ghost user'
    }),
    ...destroyingFlags
  }

  async run() {
    const { argv, flags } = await this.parse(UsersDelete)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!flags['dry-run']) requireAnswer(how)
    const keeps = flags['keep-contributions'] === true
    const loss = async (user: ShownUser) => summaryOf(user.username, await rules.deletionOf(user, { keeps }))
    const show = async (user: ShownUser) => {
      const deletion = await rules.deletionOf(user, { keeps })
      this.log(summaryOf(user.username, deletion))
      return { would_delete: user, ...deletion }
    }
    const destroy = async (user: ShownUser) => {
      const remove = keeps ? rules.deleteUserKeeping : rules.deleteUser
      const groups = await remove(user.id, commandOrigin())
      if (!groups) throw new NoSuch('user', user.username)
      if (groups.length > 0) refuse(user.username, groups)
      this.log(`deleted user ${user.username} (id ${user.id})`)
      return { deleted: user }
    }
    const find = async (name: string) => view.viewUserForAdmin(await requireUser(name))
    const dryRun = flags['dry-run'] === true
    return withDatabase(() =>
      destroyEach<string, ShownUser, object>(argv.map(String), {
        find,
        loss,
        destroy: dryRun ? show : destroy,
        how,
        dryRun
      })
    )
  }
}

function refuse(username: string, groups: UserDeletion['only_owner_of']): never {
  throw new Conflict(`user ${username} is the only owner of ${groups.join(', ')}: make another user an owner first`)
}

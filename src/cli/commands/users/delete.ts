import { Args, Flags } from '@oclif/core'
import type { UserDeletion } from '../../../areas/removal/user-deletion.js'
import { BaseCommand } from '../../base.js'

export default class UsersDelete extends BaseCommand {
  static override summary = 'Delete a user with all that is only theirs'
  static override description =
    'Personal projects with their repositories and builds, keys, addresses, tokens, sessions, identities and memberships go along; pipelines, builds and pushes in other projects stay, without the name. It cannot be undone: look with --dry-run, or block instead. The last active administrator and the only owner of a group cannot be deleted. With --json: {deleted: user}, or with --dry-run {would_delete: user, only_owner_of, last_admin, goes, stays}.'
  static override examples = [
    '<%= config.bin %> users delete ada --dry-run',
    '<%= config.bin %> users delete ada',
    '<%= config.bin %> users delete 42 --json'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'username, mail address or number' })
  }
  static override flags = {
    'dry-run': Flags.boolean({ description: 'say what would go and what would stay, and change nothing' })
  }

  async run() {
    const { args, flags } = await this.parse(UsersDelete)
    this.configure(flags)
    const [{ withDatabase }, { commandOrigin }, rules, { requireUser }, { viewUserForAdmin }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/removal/user-deletion.js'),
      import('../../../areas/users/users.queries.js'),
      import('../../../areas/users/users.record.js')
    ])
    return withDatabase(async () => {
      const user = viewUserForAdmin(await requireUser(args.user))
      if (flags['dry-run']) {
        const deletion = await rules.deletionOf(user)
        const { summaryOf } = await import('../../deletion-summary.js')
        this.log(summaryOf(user.username, deletion))
        return { would_delete: user, ...deletion }
      }
      const groups = await rules.deleteUser(user.id, commandOrigin())
      if (groups.length > 0) this.refuse(user.username, groups)
      this.log(`deleted user ${user.username} (id ${user.id})`)
      return { deleted: user }
    })
  }

  private refuse(username: string, groups: UserDeletion['only_owner_of']): never {
    this.error(`user ${username} is the only owner of ${groups.join(', ')}: make somebody else an owner first`, {
      exit: 1
    })
  }
}

import { requireUser } from '../../../areas/people/users/users.queries.js'
import { viewUserForAdmin } from '../../../areas/people/users/users.record.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { namedUsers } from '../../input/named-users.js'
import { fields } from '../../output/table.js'

export default class UsersShow extends BaseCommand {
  static override summary = 'Show a user'
  static override description = 'With --json: the user as the API shows it to an administrator.'
  static override examples = [
    '<%= config.bin %> users show ada',
    '<%= config.bin %> users show ada@example.org --json',
    '<%= config.bin %> users show 42'
  ]
  static override strict = false
  static override args = namedUsers

  async run() {
    const { argv, flags } = await this.parse(UsersShow)
    this.configure(flags)
    const show = async (name: string) => {
      const user = viewUserForAdmin(await requireUser(name))
      const identities = user.identities.map(({ provider, extern_uid }) => `${provider}=${extern_uid}`)
      this.log(fields({ ...user, identities: identities.join(', ') || null }))
      return user
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), show))
  }
}

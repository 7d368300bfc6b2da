import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class UsersShow extends BaseCommand {
  static override summary = 'Show a user'
  static override description = 'With --json: the user as the API shows it to an administrator.'
  static override examples = [
    '<%= config.bin %> users show ada',
    '<%= config.bin %> users show ada@example.org --json',
    '<%= config.bin %> users show 42'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'the user: username, mail address or number' })
  }

  async run() {
    const { args, flags } = await this.parse(UsersShow)
    this.configure(flags)
    const [{ withDatabase }, { requireUser }, { viewUserForAdmin }, { fields }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../areas/users/users.queries.js'),
      import('../../../areas/users/users.record.js'),
      import('../../table.js')
    ])
    const user = viewUserForAdmin(await withDatabase(() => requireUser(args.user)))
    const identities = user.identities.map(({ provider, extern_uid }) => `${provider}=${extern_uid}`)
    this.log(fields({ ...user, identities: identities.join(', ') || null }))
    return user
  }
}

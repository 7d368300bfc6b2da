import { updateUser } from '../../../areas/people/users/user-update.js'
import { requireNumberedUser, requireUser } from '../../../areas/people/users/users.queries.js'
import * as view from '../../../areas/people/users/users.record.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'
import { attributeFlags, attributesOf } from '../../topics/user-attributes.js'

const OWN_FLAGS = {
  email: Flags.string({ description: 'the primary mail address' }),
  username: Flags.string({
    description: 'the username, which is part of URLs; this also changes the paths of their personal projects'
  }),
  name: Flags.string({ description: 'the display name' }),
  admin: Flags.boolean({ allowNo: true, description: 'make the user an administrator' })
}

export default class UsersSet extends BaseCommand {
  static override summary = 'Change attributes of a user'
  static override description =
    'Attributes without a flag do not change. The last active administrator must stay an administrator. To set a password, use `users passwd`. With --json: the user as the API shows it to an administrator.'
  static override examples = [
    '<%= config.bin %> users set ada --email ada@new.example --name "Ada Lovelace"',
    '<%= config.bin %> users set ada --admin --projects-limit 50',
    '<%= config.bin %> users set 42 --username ada2 --no-external --json',
    '<%= config.bin %> users set ada --provider ldap --extern-uid uid=ada,ou=people,dc=example,dc=org'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'the user: username, mail address or number' })
  }
  static override flags = { ...OWN_FLAGS, ...attributeFlags }

  async run() {
    const { args, flags } = await this.parse(UsersSet)
    this.configure(flags)
    const change = attributesOf(flags, [...Object.keys(OWN_FLAGS), ...Object.keys(attributeFlags)])
    if (Object.keys(change).length === 0) {
      this.error('specify at least one attribute to change, such as --email: see gitstead users set --help', {
        exit: 2
      })
    }
    const user = await withDatabase(async () => {
      const { id } = await requireUser(args.user)
      await updateUser(id, change, commandOrigin())
      return view.viewUserForAdmin(await requireNumberedUser(String(id)))
    })
    this.log(`changed ${Object.keys(change).join(', ')} of user ${user.username} (id ${user.id})`)
    return user
  }
}

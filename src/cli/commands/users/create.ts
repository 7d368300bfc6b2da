import { createUser } from '../../../areas/people/users/users.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { viewAccount } from '../../../areas/people/users/users.record.js'
import { publicUrl } from '../../../config.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { readPassword } from '../../input/password.js'
import { Flags } from '../../oclif.js'
import { attributeFlags, attributesOf } from '../../topics/user-attributes.js'

export default class UsersCreate extends BaseCommand {
  static override summary = 'Create a user, and print their private token'
  static override description =
    'The password is read from standard input or a file, never from the command line. With --json: the user as the API shows it to an administrator, with private_token.'
  static override examples = [
    'echo "$PASSWORD" | <%= config.bin %> users create --username root --email root@example.org --name Root --admin --password-stdin --json',
    '<%= config.bin %> users create --username ada --email ada@example.org --name Ada --password-file ./password',
    '<%= config.bin %> users create --username eve --email eve@partner.example --name Eve --external --projects-limit 0 --password-file ./password'
  ]
  static override flags = {
    username: Flags.string({ required: true, description: 'the username, which is part of URLs' }),
    email: Flags.string({ required: true, description: 'the primary mail address' }),
    name: Flags.string({ required: true, description: 'the display name' }),
    admin: Flags.boolean({ description: 'make the user an administrator' }),
    ...attributeFlags,
    'password-stdin': Flags.boolean({ description: 'read the password from the first line of standard input' }),
    'password-file': Flags.file({ description: 'read the password from the first line of a file' })
  }

  async run() {
    const { flags } = await this.parse(UsersCreate)
    this.configure(flags)
    const password = await readPassword({ stdin: flags['password-stdin'], file: flags['password-file'] })
    const { username, email, name, admin } = flags
    const body = { username, email, name, admin, password, ...attributesOf(flags, Object.keys(attributeFlags)) }
    const account = await withDatabase(
      async () => {
        const { privateToken } = await createUser(body, commandOrigin())
        return viewAccount(await requireUser(username), privateToken)
      },
      { makes: true }
    )
    this.log(
      [
        `created user ${account.username} (id ${account.id})`,
        `private token: ${account.private_token}`,
        `sign in at ${publicUrl()}/users/sign_in`
      ].join('\n')
    )
    return account
  }
}

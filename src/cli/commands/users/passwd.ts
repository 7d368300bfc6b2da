import { updateUser } from '../../../areas/people/users/user-update.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { viewUserForAdmin } from '../../../areas/people/users/users.record.js'
import { offerPassword } from '../../../areas/reach/accounts/passwords.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { readPassword } from '../../input/password.js'
import { Args, Flags } from '../../oclif.js'

export default class UsersPasswd extends BaseCommand {
  static override summary = 'Set the password of a user, or send the user a link to set it'
  static override description =
    'The password is read from standard input or a file, never from the command line. With --mail, the user gets a link that works once, within six hours; the password does not change until then. When it changes, all sessions of the user end; tokens and keys stay valid. With --json: the user as the API shows it to an administrator.'
  static override examples = [
    'echo "$PASSWORD" | <%= config.bin %> users passwd ada --password-stdin',
    '<%= config.bin %> users passwd ada@example.org --password-file ./password --json',
    '<%= config.bin %> users passwd ada --mail'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'the user: username, mail address or number' })
  }
  static override flags = {
    'password-stdin': Flags.boolean({ description: 'read the password from the first line of standard input' }),
    'password-file': Flags.file({ description: 'read the password from the first line of a file' }),
    mail: Flags.boolean({
      description: 'send the user a link to set a password',
      exclusive: ['password-stdin', 'password-file']
    })
  }

  async run() {
    const { args, flags } = await this.parse(UsersPasswd)
    this.configure(flags)
    if (flags.mail) return this.offer(args.user)
    const password = await readPassword({ stdin: flags['password-stdin'], file: flags['password-file'] })
    const user = await withDatabase(async () => {
      const found = await requireUser(args.user)
      await updateUser(found.id, { password }, commandOrigin())
      return viewUserForAdmin(found)
    })
    this.log(`set the password of user ${user.username}`)
    return user
  }

  private async offer(name: string) {
    const user = await withDatabase(async () => {
      const found = await requireUser(name)
      await offerPassword(found, commandOrigin())
      return viewUserForAdmin(found)
    })
    this.log(`sent a link to set a new password to ${user.email}`)
    return user
  }
}

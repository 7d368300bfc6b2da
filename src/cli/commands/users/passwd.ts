import { BaseCommand } from '../../base.js'
import { Args, Flags } from '../../oclif.js'

export default class UsersPasswd extends BaseCommand {
  static override summary = 'Set the password of a user'
  static override description =
    'The password comes from standard input or a file, never from the command line. All sessions of the user end; tokens and keys stay valid. With --json: the user as the API shows it to an administrator.'
  static override examples = [
    'echo "$PASSWORD" | <%= config.bin %> users passwd ada --password-stdin',
    '<%= config.bin %> users passwd ada@example.org --password-file ./password --json'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'the user: username, mail address or number' })
  }
  static override flags = {
    'password-stdin': Flags.boolean({ description: 'read the password from the first line of standard input' }),
    'password-file': Flags.file({ description: 'read the password from the first line of a file' })
  }

  async run() {
    const { args, flags } = await this.parse(UsersPasswd)
    this.configure(flags)
    const { readPassword } = await import('../../password.js')
    const password = await readPassword({ stdin: flags['password-stdin'], file: flags['password-file'] })
    const [{ withDatabase }, { commandOrigin }, { updateUser }, { requireUser }, { viewUserForAdmin }] =
      await Promise.all([
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/users/user-update.js'),
        import('../../../areas/users/users.queries.js'),
        import('../../../areas/users/users.record.js')
      ])
    const user = await withDatabase(async () => {
      const found = await requireUser(args.user)
      await updateUser(found.id, { password }, commandOrigin())
      return viewUserForAdmin(found)
    })
    this.log(`set the password of user ${user.username}`)
    return user
  }
}

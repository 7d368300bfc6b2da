import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class UsersCreate extends BaseCommand {
  static override summary = 'Create a user; prints the record with its private token'
  static override description = 'The password comes from standard input or a file, never from the command line.'
  static override examples = [
    'echo "$PASSWORD" | <%= config.bin %> users create --username root --email root@example.org --name Root --admin --password-stdin --json',
    '<%= config.bin %> users create --username ada --email ada@example.org --name Ada --password-file ./password'
  ]
  static override flags = {
    username: Flags.string({ required: true }),
    email: Flags.string({ required: true }),
    name: Flags.string({ required: true, description: 'the name that people read' }),
    admin: Flags.boolean({ description: 'make an administrator' }),
    external: Flags.boolean({ description: 'see internal projects as strangers do' }),
    'projects-limit': Flags.integer({ min: 0 }),
    'password-stdin': Flags.boolean({ description: 'read the password from the first line of standard input' }),
    'password-file': Flags.file({ description: 'read the password from the first line of a file' })
  }

  async run() {
    const { flags } = await this.parse(UsersCreate)
    this.configure(flags)
    const { readPassword } = await import('../../password.js')
    const password = await readPassword({ stdin: flags['password-stdin'], file: flags['password-file'] })
    const [{ withDatabase }, { commandOrigin }, { createUser }, { findUser }, { viewAccount }, { NotFound }] =
      await Promise.all([
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/users/users.js'),
        import('../../../areas/users/users.queries.js'),
        import('../../../areas/users/users.view.js'),
        import('../../../errors.js')
      ])
    const account = await withDatabase(async () => {
      const body = {
        username: flags.username,
        email: flags.email,
        name: flags.name,
        password,
        admin: flags.admin,
        external: flags.external,
        projects_limit: flags['projects-limit']
      }
      const { id, privateToken } = await createUser(body, commandOrigin())
      const user = await findUser(id)
      if (!user) throw new NotFound('User')
      return viewAccount(user, privateToken)
    })
    this.log(`created user ${account.username} (id ${account.id})\nprivate token: ${account.private_token}`)
    return account
  }
}

import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'
import { confirm, destroyingFlags, requireAnswer } from '../../confirm.js'

export default class TokensResetPrivate extends BaseCommand {
  static override summary = 'Give a user a new private token; the old one stops working'
  static override description =
    'Personal access tokens, sessions, keys and the password stay as they are. With --json: the user with private_token, in the form of `users create`; with --dry-run {would_reset}: the user without the token.'
  static override examples = [
    '<%= config.bin %> tokens reset-private ada --yes',
    '<%= config.bin %> tokens reset-private ada@example.org --yes --json',
    '<%= config.bin %> tokens reset-private 17 --dry-run'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'the user: username, mail address or number' })
  }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, args } = await this.parse(TokensResetPrivate)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!flags['dry-run']) requireAnswer(how)
    const [{ withDatabase }, { commandOrigin }, { requireUser }, { resetPrivateToken }, { viewAccount }] =
      await Promise.all([
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/users/users.queries.js'),
        import('../../../areas/credentials/tokens.js'),
        import('../../../areas/users/users.record.js')
      ])
    return withDatabase(async () => {
      const user = await requireUser(args.user)
      if (flags['dry-run']) {
        this.log(`would give ${user.username} a new private token`)
        return { would_reset: viewAccount(user) }
      }
      await confirm(`the private token of ${user.username} stops working`, how)
      const token = await resetPrivateToken(user, commandOrigin())
      this.log(`gave ${user.username} a new private token\nprivate token: ${token}`)
      return viewAccount(user, token)
    })
  }
}

import { resetPrivateToken } from '../../../areas/people/credentials/tokens.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { viewAccount } from '../../../areas/people/users/users.record.js'
import { BaseCommand } from '../../framework/base.js'
import { destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { destroyEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { namedUsers } from '../../input/named-users.js'

export default class TokensResetPrivate extends BaseCommand {
  static override summary = 'Give a user a new private token; the old one stops working'
  static override description =
    'Personal access tokens, sessions, keys and the password do not change. With --json: the user with private_token as in `users create`; with --dry-run {would_reset}: the user without the token.'
  static override examples = [
    '<%= config.bin %> tokens reset-private ada --yes',
    '<%= config.bin %> tokens reset-private ada@example.org --yes --json',
    '<%= config.bin %> tokens reset-private 17 --dry-run'
  ]
  static override strict = false
  static override args = namedUsers
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, argv } = await this.parse(TokensResetPrivate)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    return withDatabase(() =>
      destroyEach(argv.map(String), {
        how,
        dryRun,
        find: requireUser,
        loss: user => `the private token of ${user.username} stops working`,
        destroy: async user => {
          if (dryRun) {
            this.log(`would give ${user.username} a new private token`)
            return { would_reset: viewAccount(user) }
          }
          const token = await resetPrivateToken(user, commandOrigin())
          this.log(`gave ${user.username} a new private token\nprivate token: ${token}`)
          return viewAccount(user, token)
        }
      })
    )
  }
}

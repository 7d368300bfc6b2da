import { resetFactors } from '../../../../areas/people/factors/factors.js'
import { requireUser } from '../../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../../framework/base.js'
import { destroyingFlags, requireAnswer } from '../../../framework/confirm.js'
import { destroyEach } from '../../../framework/each.js'
import { commandOrigin } from '../../../framework/origin.js'
import { withDatabase } from '../../../framework/with-database.js'
import { namedUsers } from '../../../input/named-users.js'

export default class UsersTwoFactorReset extends BaseCommand {
  static override summary = 'Remove the second factors of a user who has lost them'
  static override description =
    'The authenticator app, all passkeys and all recovery codes stop working, and all sessions of the user end. The password, tokens and keys stay valid, and the user gets a mail. First make sure that you talk to the owner of the account. With --json: {username, reset}; with --dry-run {username, would_reset}.'
  static override examples = [
    '<%= config.bin %> users two-factor reset ada --yes',
    '<%= config.bin %> users two-factor reset ada@example.org --dry-run --json'
  ]
  static override strict = false
  static override args = namedUsers
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, argv } = await this.parse(UsersTwoFactorReset)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    return withDatabase(() =>
      destroyEach(argv.map(String), {
        how,
        dryRun,
        find: requireUser,
        loss: ({ username }) => `the second factors of ${username} stop working, and all sessions of the user end`,
        destroy: async user => {
          const { username } = user
          if (dryRun) {
            this.log(
              user.two_factor_at
                ? `would remove the second factors of user ${username}`
                : `user ${username} has no second factor`
            )
            return { username, would_reset: user.two_factor_at !== null }
          }
          const reset = await resetFactors(user, commandOrigin())
          this.log(reset ? `removed the second factors of user ${username}` : `user ${username} has no second factor`)
          return { username, reset }
        }
      })
    )
  }
}

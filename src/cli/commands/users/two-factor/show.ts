import { factorsOf } from '../../../../areas/people/factors/factors.js'
import { passkeysOf } from '../../../../areas/people/factors/passkeys.js'
import { requireUser } from '../../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../../framework/base.js'
import { doEach } from '../../../framework/each.js'
import { withDatabase } from '../../../framework/with-database.js'
import { namedUsers } from '../../../input/named-users.js'
import { fields } from '../../../output/table.js'

export default class UsersTwoFactorShow extends BaseCommand {
  static override summary = 'Show the second factors of a user'
  static override description =
    'With --json: {username, two_factor_enabled, since, authenticator_app, passkeys, recovery_codes}: authenticator_app is when it was set up, or null; each of the passkeys {name, created_at, last_used_at}; recovery_codes is how many are left.'
  static override examples = [
    '<%= config.bin %> users two-factor show ada',
    '<%= config.bin %> users two-factor show ada@example.org --json'
  ]
  static override strict = false
  static override args = namedUsers

  async run() {
    const { argv, flags } = await this.parse(UsersTwoFactorShow)
    this.configure(flags)
    const show = async (name: string) => {
      const { id, username } = await requireUser(name)
      const [factors, passkeys] = await Promise.all([factorsOf(id), passkeysOf(id)])
      const shown = {
        username,
        two_factor_enabled: factors.since !== null,
        since: factors.since,
        authenticator_app: factors.app,
        passkeys: passkeys.map(({ name, created_at, last_used_at }) => ({ name, created_at, last_used_at })),
        recovery_codes: factors.recoveryCodes
      }
      this.log(fields({ ...shown, passkeys: passkeys.map(passkey => passkey.name).join(', ') || null }))
      return shown
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), show))
  }
}

import { requireUser } from '../../../areas/people/users/users.queries.js'
import { confirmAddressesOf } from '../../../areas/reach/accounts/confirmations.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { namedUsers } from '../../input/named-users.js'
import { Flags } from '../../oclif.js'

export default class UsersConfirm extends BaseCommand {
  static override summary = 'Confirm mail addresses of a user without the link in the mail'
  static override description =
    'Use it if the mail does not arrive, and only if you know that the addresses belong to the user. Confirms all unconfirmed addresses, or only the address in --email. A user who could not sign in until then can now sign in; a blocked user stays blocked. No mail is sent. With --json: {username, confirmed: [address]}.'
  static override examples = [
    '<%= config.bin %> users confirm ada',
    '<%= config.bin %> users confirm ada bob --json',
    '<%= config.bin %> users confirm ada --email ada@work.example.org'
  ]
  static override strict = false
  static override args = namedUsers
  static override flags = {
    email: Flags.string({ description: 'confirm only this address' })
  }

  async run() {
    const { argv, flags } = await this.parse(UsersConfirm)
    this.configure(flags)
    const confirm = async (name: string) => {
      const { id, username } = await requireUser(name)
      const confirmed = (await confirmAddressesOf(id, commandOrigin(), flags.email)).map(({ address }) => address)
      const nothing = `user ${username} has no unconfirmed address`
      this.log(confirmed.length > 0 ? `confirmed ${confirmed.join(', ')} of user ${username}` : nothing)
      return { username, confirmed }
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), confirm))
  }
}

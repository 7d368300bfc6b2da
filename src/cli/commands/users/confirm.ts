import { requireUser } from '../../../areas/people/users/users.queries.js'
import { confirmAddressesOf } from '../../../areas/reach/accounts/confirmations.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'

export default class UsersConfirm extends BaseCommand {
  static override summary = 'Confirm addresses of a user without the link in a mail'
  static override description =
    'For somebody whose mail does not arrive: you must know that the addresses are theirs. It confirms all addresses of the user that wait for it, or the one of --email; whoever could not sign in before may now. A blocked user stays as they are. Nobody gets a mail. With --json: {username, confirmed: [address]}.'
  static override examples = [
    '<%= config.bin %> users confirm ada',
    '<%= config.bin %> users confirm ada bob --json',
    '<%= config.bin %> users confirm ada --email ada@work.example.org'
  ]
  static override strict = false
  static override args = {
    user: Args.string({
      required: true,
      description: 'the user: username, mail address or number; you can give several'
    })
  }
  static override flags = {
    email: Flags.string({ description: 'only this address' })
  }

  async run() {
    const { argv, flags } = await this.parse(UsersConfirm)
    this.configure(flags)
    const confirm = async (name: string) => {
      const { id, username } = await requireUser(name)
      const confirmed = (await confirmAddressesOf(id, commandOrigin(), flags.email)).map(({ address }) => address)
      const nothing = `nothing of user ${username} waits to be confirmed`
      this.log(confirmed.length > 0 ? `confirmed ${confirmed.join(', ')} of user ${username}` : nothing)
      return { username, confirmed }
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), confirm))
  }
}

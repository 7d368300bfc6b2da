import { unblockAddress } from '../../../areas/reach/mail/administer.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { Args } from '../../oclif.js'

export default class MailUnblock extends BaseCommand {
  static override summary = 'Allow mail to bounced addresses again'
  static override description =
    'An address bounces when its server reports that the mailbox does not exist (550 5.1.x). Security mail is still sent to it, and unblocks the address if it arrives. With --json: {unblocked}: the address with the response of the server; for several addresses {results}.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> mail unblock ada@example.org',
    '<%= config.bin %> mail unblock ada@example.org bob@example.org --json'
  ]
  static override args = {
    address: Args.string({ description: 'the address, as `mail queue` shows it; you can give several', required: true })
  }

  async run() {
    const { flags, argv } = await this.parse(MailUnblock)
    this.configure(flags)
    return withDatabase(() =>
      doEach(argv.map(String), this.jsonEnabled(), async address => {
        const unblocked = await orNotFound('bounced address', address, () => unblockAddress(address, commandOrigin()))
        this.log(`unblocked ${unblocked.address}`)
        return { unblocked }
      })
    )
  }
}

import * as rules from '../../../areas/reach/mail/administer.js'
import { BaseCommand } from '../../framework/base.js'
import { sortOut } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { numbersIn } from '../../input/record-number.js'
import { Args, Flags } from '../../oclif.js'

export default class MailRetry extends BaseCommand {
  static override summary = 'Send failed or canceled mails again'
  static override description =
    'Each mail is tried for two more days. A number without such a mail does not stop the others. With --json: {retried}, the number of mails; with numbers as arguments also failed: [{argument, error}].'
  static override strict = false
  static override examples = ['<%= config.bin %> mail retry 4711 4712', '<%= config.bin %> mail retry --failed --json']
  static override args = {
    id: Args.string({ description: 'number of a mail, as `mail queue` shows it; you can give several' })
  }
  static override flags = { failed: Flags.boolean({ description: 'send all failed mails again' }) }

  async run() {
    const { flags, argv } = await this.parse(MailRetry)
    this.configure(flags)
    const ids = numbersIn(argv.map(String))
    if (ids === undefined || Boolean(flags.failed) === ids.length > 0 || ids.length > 1000)
      this.error('give the numbers of up to 1000 mails, or --failed for all failed mails', { exit: 2 })
    if (flags.failed) {
      const retried = await withDatabase(() => rules.retryFailedMails(commandOrigin()))
      this.log(`retried ${retried}`)
      return { retried }
    }
    const retry = (id: number) => orNotFound('failed or canceled mail', id, () => rules.retryMail(id, commandOrigin()))
    const { done, failed } = await withDatabase(() => sortOut(ids, this.jsonEnabled(), retry))
    this.log(`retried ${done.length}`)
    return { retried: done.length, failed }
  }
}

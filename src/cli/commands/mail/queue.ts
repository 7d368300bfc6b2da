import type { BounceRow as Bounce, MailRow as Row } from '../../../areas/reach/mail/mail-queue.queries.js'
import * as queries from '../../../areas/reach/mail/mail-queue.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'
import { type Column, table } from '../../output/table.js'

const COLUMNS: readonly Column<Row>[] = [
  ['ID', mail => mail.id],
  ['MADE', mail => mail.created_at],
  ['KIND', mail => mail.kind],
  ['TO', mail => mail.address],
  ['STATE', mail => mail.state],
  ['TRIES', mail => mail.attempts],
  ['ERROR', mail => mail.error]
]

const BOUNCES: readonly Column<Bounce>[] = [
  ['BOUNCED', bounce => bounce.bounced_at],
  ['ADDRESS', bounce => bounce.address],
  ['ERROR', bounce => bounce.error]
]

const STATES = ['waiting', 'sending', 'held', 'failed', 'canceled', 'sent', 'digested'] as const
/** The states that are shown by default. */
const OPEN = ['waiting', 'sending', 'held', 'failed'] as const

export default class MailQueue extends BaseCommand {
  static override summary = 'Show waiting, held and failed mails, and addresses that bounced'
  static override description =
    'Held mails are sent as one mail at the end of the hour (mail.per_hour). Records are kept for 30 days. `mail retry` sends failed mails again, `mail unblock` allows mail to a bounced address again. With --json: {counts, mails, total, bounced}.'
  static override examples = [
    '<%= config.bin %> mail queue',
    '<%= config.bin %> mail queue --state failed --limit 100 --json'
  ]
  static override flags = {
    state: Flags.option({ options: STATES, description: 'only mails in this state' })(),
    limit: Flags.integer({ default: 20, min: 1, max: 100, description: 'mails on a page' }),
    page: Flags.integer({ default: 1, min: 1, max: 100, description: 'the number of the page, from 1' })
  }

  async run() {
    const { flags } = await this.parse(MailQueue)
    this.configure(flags)
    const [counts, { items, total }, bounced] = await withDatabase(() =>
      Promise.all([
        queries.countMails(),
        queries.listMails(flags.state ? [flags.state] : OPEN, { page: flags.page, per_page: flags.limit }),
        queries.listBounces()
      ])
    )
    this.log([...counts].map(([state, count]) => `${state} ${count}`).join('  '))
    if (items.length > 0) this.log(`\n${table(items, COLUMNS)}`)
    if (total > items.length) this.log(`${items.length} of ${total}: use --page or --limit to see more`)
    if (bounced.length > 0) this.log(`\n${table(bounced, BOUNCES)}`)
    return { counts: Object.fromEntries(counts), mails: items, total, bounced }
  }
}

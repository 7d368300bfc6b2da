import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'
import { recordNumber } from '../../record-number.js'

export default class HooksDeliveries extends BaseCommand {
  static override summary = 'List the deliveries to a system hook, newest first'
  static override description =
    'Finished deliveries are kept for 30 days. With --json: {deliveries, total}; total counts all pages.'
  static override examples = [
    '<%= config.bin %> hooks deliveries 3',
    '<%= config.bin %> hooks deliveries 3 --state dead --limit 100 --json'
  ]
  static override args = { id: recordNumber('number of the hook') }
  static override flags = {
    state: Flags.option({
      options: ['pending', 'delivered', 'dead', 'canceled'] as const,
      description: 'only deliveries in this state'
    })(),
    limit: Flags.integer({ default: 20, min: 1, max: 100, description: 'deliveries on a page' }),
    page: Flags.integer({ default: 1, min: 1, max: 100_000, description: 'the number of the page, from 1' })
  }

  async run() {
    const { flags, args } = await this.parse(HooksDeliveries)
    this.configure(flags)
    const [{ withDatabase }, { findHook }, { listDeliveries }, { viewDelivery }, { table }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../areas/hooks/hooks.js'),
      import('../../../areas/hooks/deliveries.queries.js'),
      import('../../../areas/hooks/deliveries.view.js'),
      import('../../table.js')
    ])
    const { items, total } = await withDatabase(async () => {
      const { id } = await findHook(args.id)
      return listDeliveries(id, { state: flags.state, per_page: flags.limit, page: flags.page })
    })
    const deliveries = items.map(viewDelivery)
    this.log(
      table(deliveries, [
        ['ID', delivery => delivery.id],
        ['MADE', delivery => delivery.created_at as Date],
        ['EVENT', delivery => delivery.event],
        ['STATE', delivery => delivery.state],
        ['TRIES', delivery => delivery.attempts],
        ['STATUS', delivery => delivery.last_attempt?.status ?? null],
        ['ERROR', delivery => delivery.last_attempt?.error ?? null]
      ])
    )
    if (total > deliveries.length) this.log(`${deliveries.length} of ${total}: use --page or --limit to see more`)
    return { deliveries, total }
  }
}

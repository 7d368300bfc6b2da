import type { DeliveryRow as Row } from '../../../areas/ground/hooks/deliveries.queries.js'
import { deliveriesBefore, listDeliveries } from '../../../areas/ground/hooks/deliveries.queries.js'
import { viewDelivery } from '../../../areas/ground/hooks/deliveries.view.js'
import { findHook } from '../../../areas/ground/hooks/hooks.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumber } from '../../input/record-number.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

const COLUMNS: readonly Column<Row>[] = [
  ['ID', delivery => delivery.id],
  ['MADE', delivery => delivery.created_at],
  ['EVENT', delivery => delivery.event],
  ['STATE', delivery => delivery.state],
  ['TRIES', delivery => delivery.attempts],
  ['STATUS', delivery => delivery.last_status],
  ['ERROR', delivery => delivery.last_error]
]

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
    page: Flags.integer({ default: 1, min: 1, max: 100_000, description: 'the number of the page, from 1' }),
    ...allFlag(['limit', 'page'])
  }

  async run() {
    const { flags, args } = await this.parse(HooksDeliveries)
    this.configure(flags)
    return withDatabase(async () => {
      const { id } = await orNotFound('hook', args.id, () => findHook(args.id))
      return printList({
        name: 'deliveries',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: () => viewDelivery,
        first: () => listDeliveries(id, { state: flags.state, per_page: flags.limit, page: flags.page }),
        part: (last = Number.MAX_SAFE_INTEGER) => deliveriesBefore(id, flags.state, last),
        idOf: delivery => delivery.id,
        hint: 'use --page, --limit or --all to see more'
      })
    })
  }
}

import * as queries from '../../../areas/ground/hooks/deliveries.queries.js'
import { viewDeliveryDetails } from '../../../areas/ground/hooks/deliveries.view.js'
import { findHook } from '../../../areas/ground/hooks/hooks.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumber } from '../../input/record-number.js'
import { deliveryReport } from '../../output/delivery-report.js'

export default class HooksDelivery extends BaseCommand {
  static override summary = 'Show one delivery: its payload, and every attempt with request, response and error'
  static override description =
    'The token of the hook, the signature and passwords in the URL are hidden. With --json: the delivery with `payload` and `tries`.'
  static override examples = [
    '<%= config.bin %> hooks delivery 3 4711',
    '<%= config.bin %> hooks delivery 3 4711 --json'
  ]
  static override args = {
    hook: recordNumber('number of the hook'),
    delivery: recordNumber('number of the delivery, as `hooks deliveries` shows it')
  }

  async run() {
    const { flags, args } = await this.parse(HooksDelivery)
    this.configure(flags)
    const delivery = await withDatabase(async () => {
      const { id } = await orNotFound('hook', args.hook, () => findHook(args.hook))
      const found = await orNotFound('delivery', args.delivery, () => queries.findDelivery(args.delivery, id))
      return viewDeliveryDetails(found, await queries.listAttempts(found.id))
    })
    this.log(deliveryReport(delivery))
    return delivery
  }
}

import { BaseCommand } from '../../base.js'
import { recordNumber } from '../../record-number.js'

export default class HooksDelivery extends BaseCommand {
  static override summary = 'Show one delivery: its payload, and every try with request, answer and error'
  static override description =
    'The token of the hook, the signature and a password in the URL are hidden. With --json: the delivery with `payload` and `tries`.'
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
    const [{ asked }, { withDatabase }, { findHook }, queries, { viewDeliveryDetails }, { deliveryReport }] =
      await Promise.all([
        import('../../asked.js'),
        import('../../with-database.js'),
        import('../../../areas/hooks/hooks.js'),
        import('../../../areas/hooks/deliveries.queries.js'),
        import('../../../areas/hooks/deliveries.view.js'),
        import('../../delivery-report.js')
      ])
    const delivery = await withDatabase(async () => {
      const { id } = await asked('hook', args.hook, () => findHook(args.hook))
      const found = await asked('delivery', args.delivery, () => queries.findDelivery(args.delivery, id))
      return viewDeliveryDetails(found, await queries.listAttempts(found.id))
    })
    this.log(deliveryReport(delivery))
    return delivery
  }
}

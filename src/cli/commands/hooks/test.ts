import * as queries from '../../../areas/ground/hooks/deliveries.queries.js'
import { viewDeliveryDetails } from '../../../areas/ground/hooks/deliveries.view.js'
import { testHook } from '../../../areas/ground/hooks/hooks.js'
import { firstTry } from '../../appliance/await-delivery.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumber } from '../../input/record-number.js'
import { Flags } from '../../oclif.js'
import { deliveryReport } from '../../output/delivery-report.js'

export default class HooksTest extends BaseCommand {
  static override summary = 'Send a sample event to a system hook'
  static override description =
    'A worker sends the event, even if the hook is paused. --wait waits for the first attempt and shows it: the exit code is 1 if it failed, 5 if no worker tried it in time. With --json: {payload, delivery}; the delivery as in `hooks delivery`.'
  static override examples = [
    '<%= config.bin %> hooks test 3 --wait',
    '<%= config.bin %> hooks test 3 --wait --seconds 60 --json'
  ]
  static override args = { id: recordNumber('number of the hook') }
  static override flags = {
    wait: Flags.boolean({ description: 'wait for the first attempt to finish' }),
    seconds: Flags.integer({
      min: 1,
      max: 3600,
      description: 'wait at most this many seconds (default: 20)',
      dependsOn: ['wait']
    })
  }

  async run() {
    const { flags, args } = await this.parse(HooksTest)
    this.configure(flags)
    const { sample, delivery } = await withDatabase(async () => {
      const { sample, deliveryId } = await orNotFound('hook', args.id, () => testHook(args.id))
      const found = flags.wait
        ? await firstTry(deliveryId, flags.seconds ?? 20)
        : await queries.findDelivery(deliveryId)
      return { sample, delivery: viewDeliveryDetails(found, await queries.listAttempts(deliveryId)) }
    })
    if (flags.wait) this.log(deliveryReport(delivery))
    else this.log(`delivery ${delivery.id} waits for a worker: see gitstead hooks delivery ${args.id} ${delivery.id}`)
    if (flags.wait && delivery.state !== 'delivered') process.exitCode = 1
    return { payload: sample, delivery }
  }
}

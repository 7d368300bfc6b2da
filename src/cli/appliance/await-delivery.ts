// Waits until a worker attempts a delivery, because a command does not run a worker itself.
import { setTimeout as sleep } from 'node:timers/promises'
import { type DeliveryDetailsRow, findDelivery } from '../../areas/ground/hooks/deliveries.queries.js'
import { Unavailable } from '../../errors.js'
import { pausedQueues } from '../../queue/administer.js'
import { processMetrics } from '../../queue/metrics.js'

/** Milliseconds between two checks. */
const PAUSE = 100

/** Returns the delivery after its first attempt. Throws Unavailable when no worker attempts it within `seconds`. */
export async function firstTry(deliveryId: number, seconds: number): Promise<DeliveryDetailsRow> {
  const limit = Date.now() + seconds * 1000
  for (;;) {
    const delivery = await findDelivery(deliveryId)
    if (delivery.attempts > 0 || delivery.state !== 'pending') return delivery
    if (Date.now() > limit) throw new Unavailable(await whyNot(deliveryId, seconds))
    await sleep(PAUSE)
  }
}

async function whyNot(deliveryId: number, seconds: number): Promise<string> {
  const late = `delivery ${deliveryId} was not tried within ${seconds} s`
  if ((await pausedQueues()).includes('hooks')) return `${late}: the queue is paused, run gitstead jobs resume hooks`
  const workers = (await processMetrics()).filter(({ queues }) => queues.includes('hooks'))
  if (workers.length === 0) return `${late}: no worker runs; the next worker that starts sends it`
  return `${late}: the workers are busy, see gitstead jobs stats`
}

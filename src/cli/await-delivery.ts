// Waits for a worker to try a delivery: a command has none of its own.
import { setTimeout as sleep } from 'node:timers/promises'
import { type DeliveryDetailsRow, findDelivery } from '../areas/hooks/deliveries.queries.js'
import { Unavailable } from '../errors.js'
import { pausedQueues } from '../queue/administer.js'
import { processMetrics } from '../queue/metrics.js'

const PAUSE = 100

/** The delivery once its first try is written down. Throws Unavailable when that has not come in so many seconds. */
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
  if ((await pausedQueues()).includes('hooks')) return `${late}: the queue is paused: gitstead jobs resume hooks`
  const workers = (await processMetrics()).filter(({ queues }) => queues.includes('hooks'))
  if (workers.length === 0) return `${late}: no worker runs; it is sent when one does`
  return `${late}: the workers are busy, see gitstead jobs stats`
}

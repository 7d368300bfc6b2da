// Sends an event again as a new delivery. The old delivery keeps its state: delivered, dead or canceled.
import { randomUUID } from 'node:crypto'
import type { Origin } from '../../../access/actor.js'
import { execute, marks, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { enqueueAll } from '../../../queue/enqueue.js'
import { audit } from '../audit/audit.js'
import { addDelivery } from './deliveries.js'
import { type DeliveryDetailsRow, findDelivery, listLostDeliveries } from './deliveries.queries.js'
import { redeliveryKey } from './delivery-keys.js'
import { findHook, targetOf } from './hooks.js'
import { laneOf } from './targets.js'

/** The maximum number of deliveries that one transaction adds. */
const BATCH = 200

/**
 * Adds a new delivery with the event and payload of an old one, and sends it even when the hook rests. Returns the new
 * delivery. Throws NotFound, also when the hook is removed or is not `hookId`.
 */
export async function redeliver(
  { deliveryId, hookId }: { deliveryId: number; hookId?: number },
  origin: Origin
): Promise<DeliveryDetailsRow> {
  return transact(async () => {
    const old = await findDelivery(deliveryId, hookId)
    const hook = await findHook(old.hook_id)
    const id = await repeat(old, hook.url)
    await audit(origin, {
      action: 'hook.redeliver',
      target: targetOf(hook),
      changes: { delivery: { before: old.id, after: id } }
    })
    return findDelivery(id)
  })
}

/**
 * Redelivers the dead deliveries of a hook, except those that were redelivered before. Returns the ids of the new
 * deliveries. Throws NotFound.
 */
export async function redeliverDead(hookId: number, origin: Origin): Promise<number[]> {
  const hook = await findHook(hookId)
  const lost = await listLostDeliveries(hookId)
  const made: number[] = []
  for (let at = 0; at < lost.length; at += BATCH) {
    const part = await transact(async () => {
      const ids = await repeatAll(hook, lost.slice(at, at + BATCH))
      const changes = { dead_deliveries: { after: ids.length } }
      await audit(origin, { action: 'hook.redeliver', target: targetOf(hook), changes })
      return ids
    })
    made.push(...part)
  }
  return made
}

async function repeat(old: DeliveryDetailsRow, url: string): Promise<number> {
  const key = redeliveryKey(old.id, randomUUID())
  return Number(await addDelivery({ id: old.hook_id, url }, { key, event: old.event, body: old.payload }))
}

/** Copies the payloads inside the database, with one statement: there may be thousands, of megabytes each. */
async function repeatAll(
  { id: hookId, url }: { id: number; url: string },
  deliveryIds: readonly number[]
): Promise<number[]> {
  const batch = randomUUID()
  await execute(
    `insert into hook_deliveries (hook_id, event_key, event, payload, created_at)
     select hook_id, concat('redelivery:', id, ':', ?), event, payload, ? from hook_deliveries
     where id in (${marks(deliveryIds)}) order by id`,
    [batch, new Date(), ...deliveryIds]
  )
  const keys = deliveryIds.map(id => redeliveryKey(id, batch))
  const made = await rows<{ id: number }>(
    `select id from hook_deliveries where hook_id = ? and event_key in (${marks(keys)}) order by id`,
    [hookId, ...keys]
  )
  await enqueueAll(
    'hook.deliver',
    made.map(({ id }) => ({ deliveryId: id })),
    { lane: laneOf(url) }
  )
  return made.map(({ id }) => id)
}

// The same event once more, as a delivery of its own: what was delivered, given up or canceled stays as it was.
import { randomUUID } from 'node:crypto'
import type { Origin } from '../../access/actor.js'
import { execute, marks, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { enqueueAll } from '../../queue/enqueue.js'
import { audit } from '../audit/audit.js'
import { addDelivery } from './deliveries.js'
import { type DeliveryDetailsRow, findDelivery, listLostDeliveries } from './deliveries.queries.js'
import { redeliveryKey } from './delivery-keys.js'
import { findHook, targetOf } from './hooks.js'

/** Deliveries that one transaction adds. */
const BATCH = 200

/**
 * Delivers the event and payload of a delivery again, to a hook that rests as well; gives the new delivery. Throws
 * NotFound, also where the hook is gone or is not the named one.
 */
export async function redeliver(
  { deliveryId, hookId }: { deliveryId: number; hookId?: number },
  origin: Origin
): Promise<DeliveryDetailsRow> {
  return transact(async () => {
    const old = await findDelivery(deliveryId, hookId)
    const hook = await findHook(old.hook_id)
    const id = await repeat(old)
    await audit(origin, {
      action: 'hook.redeliver',
      target: targetOf(hook),
      changes: { delivery: { before: old.id, after: id } }
    })
    return findDelivery(id)
  })
}

/** The same for several, all or none; gives the numbers of the new ones. Throws NotFound. */
export function redeliverAll(deliveryIds: readonly number[], origin: Origin): Promise<number[]> {
  return transact(async () => {
    const made: number[] = []
    for (const deliveryId of deliveryIds) made.push((await redeliver({ deliveryId }, origin)).id)
    return made
  })
}

/**
 * Delivers again what a hook has lost: its dead deliveries, but for those that were repeated before. Gives the numbers
 * of the new ones. Throws NotFound.
 */
export async function redeliverDead(hookId: number, origin: Origin): Promise<number[]> {
  const hook = await findHook(hookId)
  const lost = await listLostDeliveries(hookId)
  const made: number[] = []
  for (let at = 0; at < lost.length; at += BATCH) {
    const part = await transact(async () => {
      const ids = await repeatAll(hookId, lost.slice(at, at + BATCH))
      const changes = { dead_deliveries: { after: ids.length } }
      await audit(origin, { action: 'hook.redeliver', target: targetOf(hook), changes })
      return ids
    })
    made.push(...part)
  }
  return made
}

const repeat = async (old: DeliveryDetailsRow): Promise<number> =>
  Number(await addDelivery(old.hook_id, redeliveryKey(old.id, randomUUID()), old.event, old.payload))

/** By statements for all together, which carry no payload: there may be thousands, of megabytes each. */
async function repeatAll(hookId: number, deliveryIds: readonly number[]): Promise<number[]> {
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
    made.map(({ id }) => ({ deliveryId: id }))
  )
  return made.map(({ id }) => id)
}

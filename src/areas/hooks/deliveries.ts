// Deliveries of events to system hooks. Each is a row with a job, made where the event is told.
import { execute, marks, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { enqueue } from '../../queue/enqueue.js'
import { type SystemHookEvent, systemHookFlag } from '../../webhooks/events.js'

/** Makes a delivery for every system hook that wants the event; the second time it makes none. */
export async function tellSystemHooks(key: string, event: SystemHookEvent, payload: object): Promise<void> {
  const flag = systemHookFlag(event)
  // By statement and not by model: every push and every event asks, and mostly nobody wants to know.
  const hooks = await rows<{ id: number; push_events: number; tag_push_events: number }>(
    'select id, push_events, tag_push_events from system_hooks'
  )
  const wanting = hooks.filter(hook => flag === null || hook[flag] === 1)
  if (wanting.length === 0) return
  const body = JSON.stringify(payload)
  await transact(async () => {
    for (const hook of wanting) await addDelivery(hook.id, key, event, body)
  })
}

/** Adds a delivery with its job, unless the hook has one for this key; gives its id, or null. */
export async function addDelivery(hookId: number, key: string, event: string, body: string): Promise<number | null> {
  return transact(async () => {
    const { affectedRows, insertId } = await execute(
      'insert ignore into hook_deliveries (hook_id, event_key, event, payload, created_at) values (?, ?, ?, ?, ?)',
      [hookId, key, event, body, new Date()]
    )
    if (affectedRows === 0) return null
    await enqueue('hook.deliver', { deliveryId: insertId })
    return insertId
  })
}

/** Gives up deliveries that wait, as their jobs are discarded. */
export async function cancelDeliveries(which: readonly { readonly deliveryId: number }[]): Promise<void> {
  for (let at = 0; at < which.length; at += 1000) {
    const ids = which.slice(at, at + 1000).map(({ deliveryId }) => deliveryId)
    await execute(
      `update hook_deliveries set state = 'canceled', finished_at = ? where id in (${marks(ids)}) and state = 'pending'`,
      [new Date(), ...ids]
    )
  }
}

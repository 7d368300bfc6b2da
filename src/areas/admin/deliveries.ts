// Deliveries of events to system hooks. Each is a row with a job; each try is logged; a receiver that stays away slows
// down and loses nothing.
import { SystemHook } from '../../db/models/index.js'
import { execute, marks, row, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { enqueue } from '../../queue/enqueue.js'
import { decrypt } from '../../secrets.js'
import { type DeliveryResult, deliverHook } from '../../webhooks/deliver.js'
import { type SystemHookEvent, systemHookFlag, systemHookHeader } from '../../webhooks/events.js'
import { nextDelay } from '../../webhooks/retry.js'

interface DeliveryRow {
  id: number
  hook_id: number
  event_key: string
  payload: string
  state: string
  attempts: number
  created_at: Date
}

/** Failures in a row after which a hook rests, so that its waiting deliveries do not hold up those of others. */
const PATIENCE = 5
const LONGEST_REST = 600
/** A delivery that has waited this long for a hook that rests is dead, or a dead receiver's would pile up for ever. */
const LONGEST_WAIT = 86_400_000

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

/** Adds a delivery with its job, unless the hook has one for this key. */
export async function addDelivery(hookId: number, key: string, event: string, body: string): Promise<void> {
  await transact(async () => {
    const { affectedRows, insertId } = await execute(
      'insert ignore into hook_deliveries (hook_id, event_key, event, payload, created_at) values (?, ?, ?, ?, ?)',
      [hookId, key, event, body, new Date()]
    )
    if (affectedRows === 1) await enqueue('hook.deliver', { deliveryId: insertId })
  })
}

/** One try of a delivery, and the next one's job where it fails. A delivery that is over is left alone. */
export async function deliver(deliveryId: number): Promise<void> {
  const delivery = await row<DeliveryRow>(
    'select id, hook_id, event_key, payload, state, attempts, created_at from hook_deliveries where id = ?',
    [deliveryId]
  )
  if (delivery?.state !== 'pending') return
  const hook = await SystemHook.findByPk(delivery.hook_id)
  if (!hook) return finish(delivery, 'canceled')
  const resting = await restingUntil(hook.id)
  if (resting) {
    const old = Date.now() - delivery.created_at.getTime() > LONGEST_WAIT
    return old ? finish(delivery, 'dead') : postpone(delivery, resting)
  }
  const startedAt = new Date()
  const result = await deliverHook({
    url: hook.url,
    body: delivery.payload,
    event: systemHookHeader,
    token: hook.tokenEncrypted ? decrypt(hook.tokenEncrypted) : null,
    verifyTls: hook.enableSslVerification,
    id: `${delivery.event_key}.${delivery.id}`,
    timestamp: startedAt
  })
  await record(delivery, startedAt, result)
}

async function record(delivery: DeliveryRow, startedAt: Date, result: DeliveryResult): Promise<void> {
  const attempt = delivery.attempts + 1
  await transact(async () => {
    await execute(
      `insert into hook_attempts (delivery_id, attempt, started_at, duration_ms, status, error, request_headers,
         response_headers, response_body) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        delivery.id,
        attempt,
        startedAt,
        result.durationMs,
        result.status,
        result.error?.slice(0, 500) ?? null,
        JSON.stringify(result.requestHeaders),
        JSON.stringify(result.responseHeaders),
        result.responseBody
      ]
    )
    await execute('update hook_deliveries set attempts = ? where id = ?', [attempt, delivery.id])
    await noteHealth(delivery.hook_id, result.delivered, startedAt)
    if (result.delivered) return finish(delivery, 'delivered')
    const delay = nextDelay(attempt, Math.random)
    if (delay === null) return finish(delivery, 'dead')
    await postpone(delivery, new Date(Date.now() + delay * 1000))
  })
}

async function finish(delivery: DeliveryRow, state: 'delivered' | 'dead' | 'canceled'): Promise<void> {
  await execute('update hook_deliveries set state = ?, finished_at = ? where id = ?', [state, new Date(), delivery.id])
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

async function postpone(delivery: DeliveryRow, runAt: Date): Promise<void> {
  await enqueue('hook.deliver', { deliveryId: delivery.id }, { runAt })
}

/** When a hook that failed several times in a row is to be tried again; one delivery at a time finds out. */
async function restingUntil(hookId: number): Promise<Date | null> {
  const now = new Date()
  const hook = await row<{ failures: number; resting_until: Date | null }>(
    'select failures, resting_until from system_hooks where id = ?',
    [hookId]
  )
  if (!hook?.resting_until || hook.failures < PATIENCE) return null
  if (hook.resting_until > now) return hook.resting_until
  const until = new Date(now.getTime() + 15_000)
  const { affectedRows } = await execute(
    'update system_hooks set resting_until = ? where id = ? and resting_until = ?',
    [until, hookId, hook.resting_until]
  )
  return affectedRows === 1 ? null : until
}

/** Tries that were under way when the hook began to rest fail for the same reason: they do not make the rest longer. */
async function noteHealth(hookId: number, delivered: boolean, startedAt: Date): Promise<void> {
  if (delivered) {
    const { affectedRows } = await execute(
      'update system_hooks set failures = 0, resting_until = null, rested_at = null where id = ? and failures > 0',
      [hookId]
    )
    if (affectedRows > 0) await wakeWaiting(hookId)
    return
  }
  const { affectedRows } = await execute(
    'update system_hooks set failures = failures + 1 where id = ? and (rested_at is null or rested_at < ?)',
    [hookId, startedAt]
  )
  if (affectedRows === 0) return
  const hook = await row<{ failures: number }>('select failures from system_hooks where id = ?', [hookId])
  const failures = hook?.failures ?? 0
  if (failures < PATIENCE) return
  const now = new Date()
  const rest = Math.min(2 ** (failures - PATIENCE) * 5, LONGEST_REST)
  await execute('update system_hooks set resting_until = ?, rested_at = ? where id = ?', [
    new Date(now.getTime() + rest * 1000),
    now,
    hookId
  ])
}

/** A receiver that is back gets what has waited for it now, and not when each delivery's own time comes. */
async function wakeWaiting(hookId: number): Promise<void> {
  await execute(
    `update jobs set run_at = ? where state = 'delayed' and queue = 'hooks' and name = 'hook.deliver'
     and cast(json_value(payload, '$.deliveryId') as unsigned) in
       (select id from hook_deliveries where hook_id = ? and state = 'pending')`,
    [new Date(), hookId]
  )
}

/** Removes deliveries that are over and were made before, with their tries; gives how many. */
export async function removeOldDeliveries(before: Date): Promise<number> {
  for (let gone = 0; ; ) {
    const old = await rows<{ id: number }>(
      `select id from hook_deliveries where state in ('delivered', 'dead', 'canceled') and created_at < ? limit 500`,
      [before]
    )
    if (old.length === 0) return gone
    const ids = old.map(({ id }) => id)
    await execute(`delete from hook_attempts where delivery_id in (${marks(ids)})`, ids)
    await execute(`delete from hook_deliveries where id in (${marks(ids)})`, ids)
    gone += ids.length
  }
}

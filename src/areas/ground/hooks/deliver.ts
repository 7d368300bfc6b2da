// Makes one attempt at a delivery: sends it, records the result, and plans the next attempt after a failure.

import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Hook } from '../../../db/models/index.js'
import { enqueue } from '../../../queue/enqueue.js'
import { PlannedRetry } from '../../../queue/planned-retry.js'
import { decrypt } from '../../../secrets.js'
import { type DeliveryResult, deliverHook } from '../../../webhooks/deliver.js'
import { projectHookHeader, SYSTEM_HOOK_HEADER } from '../../../webhooks/events.js'
import { nextDelay } from '../../../webhooks/retry.js'
import { isRequested } from './delivery-keys.js'
import { noteHealth, restingUntil } from './hook-health.js'
import { laneOf, noteTarget } from './targets.js'

interface DeliveryRow {
  readonly id: number
  readonly hook_id: number
  readonly event_key: string
  readonly event: string
  readonly payload: string
  readonly state: string
  readonly attempts: number
  readonly created_at: Date
}

/** Milliseconds. A delivery that waits longer for a resting hook is dead: otherwise deliveries would pile up. */
const LONGEST_WAIT = 86_400_000

/**
 * Makes one attempt. Throws PlannedRetry when it failed, so that the queue counts and shows the failure and runs the job
 * again. Does nothing for a finished delivery.
 */
export async function deliver(deliveryId: number): Promise<void> {
  const delivery = await row<DeliveryRow>(
    'select id, hook_id, event_key, event, payload, state, attempts, created_at from hook_deliveries where id = ?',
    [deliveryId]
  )
  if (delivery?.state !== 'pending') return
  const hook = await Hook.findByPk(delivery.hook_id)
  if (!hook) return finish(delivery, 'canceled')
  const isOnRequest = delivery.attempts === 0 && isRequested(delivery.event_key)
  const resting = await restingUntil(hook.id, isOnRequest ? delivery.created_at : null)
  const lane = laneOf(hook.url)
  if (resting) {
    noteTarget(lane, false)
    const old = Date.now() - delivery.created_at.getTime() > LONGEST_WAIT
    return old ? finish(delivery, 'dead') : postpone(delivery, resting, lane)
  }
  const startedAt = new Date()
  const result = await deliverHook({
    url: hook.url,
    body: delivery.payload,
    event: hook.projectId === null ? SYSTEM_HOOK_HEADER : projectHookHeader(delivery.event),
    token: hook.tokenEncrypted ? decrypt(hook.tokenEncrypted) : null,
    verifyTls: hook.enableSslVerification,
    id: `${delivery.event_key}.${delivery.id}`,
    timestamp: startedAt
  })
  noteTarget(lane, result.delivered)
  const next = await record({ ...delivery, lane }, startedAt, result)
  if (!result.delivered) throw new PlannedRetry(`hook ${hook.id}, delivery ${delivery.id}: ${result.error}`, next)
}

/** Returns the time of the next attempt; null after the last one. */
function record(
  delivery: DeliveryRow & { lane: number },
  startedAt: Date,
  result: DeliveryResult
): Promise<Date | null> {
  const attempt = delivery.attempts + 1
  const delay = result.delivered ? null : nextDelay(attempt, Math.random)
  return transact(async () => {
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
    await noteHealth({ id: delivery.hook_id, lane: delivery.lane }, result.delivered, startedAt)
    if (delay !== null) return new Date(Date.now() + delay * 1000)
    await finish(delivery, result.delivered ? 'delivered' : 'dead')
    return null
  })
}

async function finish(delivery: DeliveryRow, state: 'delivered' | 'dead' | 'canceled'): Promise<void> {
  await execute('update hook_deliveries set state = ?, finished_at = ? where id = ?', [state, new Date(), delivery.id])
}

async function postpone(delivery: DeliveryRow, runAt: Date, lane: number): Promise<void> {
  await enqueue('hook.deliver', { deliveryId: delivery.id }, { runAt, lane })
}

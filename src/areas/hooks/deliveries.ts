// Deliveries of events to hooks. Each is a row with a job, made when the happening is heard.
import { execute, marks, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { enqueue } from '../../queue/enqueue.js'
import {
  type ProjectHookFlag,
  projectHookEvents,
  projectHookFlags,
  type SystemHookEvent,
  systemHookFlag
} from '../../webhooks/events.js'
import { type ByKind, type Listener, makeOf } from '../activity/happenings.js'
import type { HookEvent, HookMessage } from './hook-events.js'

/** `events` say what hooks hear of each kind. */
export const hookDeliveries = (events: ByKind<HookEvent>): Listener => ({
  name: 'hooks',
  hear: async told => {
    const event = await makeOf(events, told)
    if (event) await deliverEvent(told.id, event)
  }
})

type HookRow = { id: number; project_id: number | null } & { [Flag in ProjectHookFlag]: number }

/** By statement and not by model: every push and every event asks, and mostly nobody wants to know. */
const HEARING = `select id, project_id, ${projectHookFlags.join(', ')} from hooks
  where project_id is null or project_id = ?`

/**
 * Makes a delivery for every hook that wants the event; the second time it makes none. `key` is the event's own, however
 * often it is told.
 */
export async function deliverEvent(key: string, { system, project }: HookEvent): Promise<void> {
  const hooks = await rows<HookRow>(HEARING, [project?.id ?? null])
  const deliveries = [
    ...(await addressed(
      system,
      hooks.filter(hook => hook.project_id === null && hearsOf(hook, system))
    )),
    ...(await addressed(
      project,
      hooks.filter(hook => hook.project_id !== null && wants(hook, project))
    ))
  ]
  if (deliveries.length === 0) return
  await transact(async () => {
    for (const { hookId, event, body } of deliveries) await addDelivery(hookId, key, event, body)
  })
}

function hearsOf(hook: HookRow, message: HookMessage<SystemHookEvent> | undefined): boolean {
  const flag = message ? systemHookFlag(message.event) : null
  return flag === null || hook[flag] === 1
}

const wants = (hook: HookRow, message: HookEvent['project']) =>
  message !== undefined && hook[projectHookEvents[message.event].flag] === 1

async function addressed(message: HookMessage<string> | undefined, hooks: readonly HookRow[]) {
  if (!message || hooks.length === 0) return []
  const body = JSON.stringify(await message.payload())
  return hooks.map(({ id }) => ({ hookId: id, event: message.event, body }))
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

// Deliveries of events to hooks. Each delivery is a row with a job. The listener creates both for an event.

import { askTogether } from '../../../db/connect/batching.js'
import { execute, type Fragment, marks, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { batches } from '../../../lib/batches.js'
import { enqueue } from '../../../queue/enqueue.js'
import { hookBody } from '../../../webhooks/body.js'
import {
  PROJECT_HOOK_EVENTS,
  type ProjectHookEvent,
  type SystemHookEvent,
  systemHookFlag
} from '../../../webhooks/events.js'
import { type ByKind, type Listener, listenerBy } from '../activity/listeners.js'
import type { HookEvent, HookMessage } from './hook-events.js'
import { laneOf } from './targets.js'

/** Returns the listener that creates deliveries. `events` maps each kind of event to the event for hooks. */
export const hookDeliveries = (events: ByKind<HookEvent>): Listener =>
  listenerBy('hooks', events, (event, published) => deliverEvent(published.id, event))

/** Limits of the columns: bytes of a row, characters of a key. */
const LARGEST_ROW = 16_777_215
const LONGEST_KEY = 64

interface HookRow {
  readonly id: number
  readonly project_id: number | null
  readonly url: string
}

export interface NewDelivery {
  /** A hook has one delivery for each key. */
  readonly key: string
  readonly event: string
  /** JSON, from hookBody. */
  readonly body: string
}

/**
 * Creates a delivery for every hook that wants the event. A second call with the same `key` creates none: the key
 * belongs to the event and stays the same when the listener runs again.
 */
export async function deliverEvent(key: string, event: HookEvent): Promise<void> {
  const wanting = await hooksThatWant(event)
  if (wanting.length === 0) return
  const ofSystem = wanting.filter(({ project_id }) => project_id === null)
  const ofProject = wanting.filter(({ project_id }) => project_id !== null)
  const deliveries = [...(await addressed(event.system, ofSystem)), ...(await addressed(event.project, ofProject))]
  await transact(async () => {
    for (const { hook, event, body } of deliveries) await addDelivery(hook, { key, event, body })
  })
}

/** Whether any hook wants the event. Call it inside a transaction. */
export const isWanted = async (event: HookEvent): Promise<boolean> => (await readHooks(wantedBy(event))).length > 0

/** An event without its payloads. */
interface Subscribed {
  readonly system?: Pick<HookMessage<SystemHookEvent>, 'event'>
  readonly project?: Pick<HookMessage<ProjectHookEvent>, 'event'> & { readonly id: number }
}

/** A statement that returns a row for each hook that wants the event. */
export function hooksFor(event: Subscribed): Fragment {
  const { where, projectId } = wantedBy(event)
  return { sql: `select 0 as user_id from hooks where ${where}`, values: projectId === undefined ? [] : [projectId] }
}

/** Every push and every event runs this query, and usually no hook matches: equal queries at the same time share one answer. */
const hooksThatWant = (event: HookEvent): Promise<readonly HookRow[]> => readTogether(wantedBy(event))

interface Wanted {
  readonly where: string
  readonly projectId: number | undefined
}

function wantedBy({ system, project }: Subscribed): Wanted {
  const flag = system ? systemHookFlag(system.event) : null
  const conditions = [
    ...(system ? [`project_id is null${flag === null ? '' : ` and ${flag}`}`] : []),
    ...(project ? [`project_id = ? and enabled and ${PROJECT_HOOK_EVENTS[project.event].flag}`] : [])
  ]
  return { where: conditions.join(' or ') || 'false', projectId: project?.id }
}

const readHooks = ({ where, projectId }: Wanted): Promise<readonly HookRow[]> =>
  rows(`select id, project_id, url from hooks where ${where}`, projectId === undefined ? [] : [projectId])

const readTogether = askTogether(readHooks, ({ where, projectId }: Wanted) => `${projectId ?? ''} ${where}`)

async function addressed(message: HookMessage<string> | undefined, hooks: readonly HookRow[]) {
  if (!message || hooks.length === 0) return []
  const body = hookBody(await message.payload())
  return hooks.map(hook => ({ hook, event: message.event, body }))
}

/** Adds a delivery with its job. Returns its id, or null when the hook already has a delivery with this key. */
export async function addDelivery(
  hook: { readonly id: number; readonly url: string },
  { key, event, body }: NewDelivery
): Promise<number | null> {
  // `insert ignore` would silently cut a value that is too long.
  if (Buffer.byteLength(body) > LARGEST_ROW || key.length > LONGEST_KEY) throw new Error('a delivery is too large')
  return transact(async () => {
    const { affectedRows, insertId } = await execute(
      'insert ignore into hook_deliveries (hook_id, event_key, event, payload, created_at) values (?, ?, ?, ?, ?)',
      [hook.id, key, event, body, new Date()]
    )
    if (affectedRows === 0) return null
    await enqueue('hook.deliver', { deliveryId: insertId }, { lane: laneOf(hook.url) })
    return insertId
  })
}

/** Cancels the pending deliveries of hooks. Call it in the transaction that removes the hooks. */
export async function cancelDeliveriesOf(hookIds: readonly number[]): Promise<void> {
  await execute(
    `update hook_deliveries set state = 'canceled', finished_at = ? where hook_id in (${marks(hookIds)}) and state = 'pending'`,
    [new Date(), ...hookIds]
  )
}

/** Cancels the pending deliveries of the hooks of projects. Call it in the transaction that removes the projects. */
export async function cancelDeliveriesOfProjects(projectIds: readonly number[]): Promise<void> {
  const hooks = await rows<{ id: number }>(
    `select id from hooks where project_id in (${marks(projectIds)})`,
    projectIds
  )
  for (const some of batches(hooks, 500)) await cancelDeliveriesOf(some.map(({ id }) => id))
}

/** Cancels pending deliveries. Call it when their jobs are discarded. */
export async function cancelDeliveries(which: readonly { readonly deliveryId: number }[]): Promise<void> {
  for (let at = 0; at < which.length; at += 1000) {
    const ids = which.slice(at, at + 1000).map(({ deliveryId }) => deliveryId)
    await execute(
      `update hook_deliveries set state = 'canceled', finished_at = ? where id in (${marks(ids)}) and state = 'pending'`,
      [new Date(), ...ids]
    )
  }
}

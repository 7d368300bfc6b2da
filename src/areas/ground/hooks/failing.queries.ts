// The hooks whose receiver fails: since when, why, and when the next attempt is due.
import { forgetWithPool } from '../../../db/connect/connection.js'
import { marks, rows } from '../../../db/connect/sql.js'
import { laneOf } from './targets.js'

/** The maximum number of failing hooks in the answer, those with the most failures first. */
const MOST = 20

export interface FailingHook {
  readonly id: number
  readonly url: string
  /** NAMESPACE/PROJECT; null for a system hook. */
  readonly project: string | null
  /** Failed attempts since the last success. */
  readonly failures: number
  /** When the oldest delivery that is lost or pending was first attempted. */
  readonly since: Date | null
  readonly next_try_at: Date | null
  readonly pending: number
  readonly dead: number
  /** The last attempt at that delivery. */
  readonly event: string | null
  readonly status: number | null
  readonly error: string | null
}

const firstOf = (state: string) =>
  `(select d.id from hook_deliveries d where d.hook_id = h.id and d.state = '${state}' and d.attempts > 0
      and d.id > h.delivered order by d.id limit 1)`
const countOf = (state: string) =>
  `(select count(*) from hook_deliveries d where d.hook_id = h.id and d.state = '${state}')`

// Very many deliveries may wait for a dead receiver. Counting them may take at most a fiftieth of the time.
const SHARE = 50
const MANY = 10_000
let cached: { hooks: FailingHook[]; until: number } | undefined

forgetWithPool(() => {
  cached = undefined
})

/** Returns at most 20 hooks. When very many deliveries wait, the answer may be a few seconds old. */
export async function failingHooks(): Promise<FailingHook[]> {
  const started = performance.now()
  if (cached && cached.until > started) return cached.hooks
  const hooks = await readFailingHooks()
  const ended = performance.now()
  const counted = hooks.reduce((sum, { pending, dead }) => sum + pending + dead, 0)
  // A small number is counted quickly, so every request counts it again.
  cached = counted < MANY ? undefined : { hooks, until: ended + (ended - started) * SHARE }
  return hooks
}

async function readFailingHooks(): Promise<FailingHook[]> {
  const found = await rows<Omit<FailingHook, 'next_try_at'> & { resting_until: Date | null }>(
    `select h.id, h.url, h.failures, h.resting_until, h.pending, h.dead,
       if(h.project_id is null, null, concat(n.path, '/', p.path)) as project, d.event, l.status, l.error,
       (select a.started_at from hook_attempts a where a.delivery_id = d.id order by a.id limit 1) as since
     from (
       select h.*, ${firstOf('pending')} as first_pending, ${firstOf('dead')} as first_dead,
         ${countOf('pending')} as pending, ${countOf('dead')} as dead
       from (
         select id, url, project_id, failures, resting_until, coalesce((select d.id from hook_deliveries d
           where d.hook_id = hooks.id and d.state = 'delivered' order by d.id desc limit 1), 0) as delivered
         from hooks where failures > 0 order by failures desc, id limit ${MOST}
       ) h
     ) h
       left join hook_deliveries d
         on d.id = least(coalesce(h.first_pending, h.first_dead), coalesce(h.first_dead, h.first_pending))
       left join hook_attempts l on l.id = (select max(m.id) from hook_attempts m where m.delivery_id = d.id)
       left join projects p on p.id = h.project_id left join namespaces n on n.id = p.namespace_id
     order by h.failures desc, h.id`
  )
  const planned = await plannedTries(found.map(({ url }) => laneOf(url)))
  return found.map(({ resting_until: rest, ...hook }) => {
    const due = planned.get(laneOf(hook.url)) ?? null
    // A delivery that is due before the hook's rest ends waits until then.
    return { ...hook, next_try_at: due !== null && rest !== null && rest > due ? rest : due }
  })
}

/** Returns when the next delivery of each lane is due. */
async function plannedTries(lanes: readonly number[]): Promise<Map<number, Date>> {
  if (lanes.length === 0) return new Map()
  const found = await rows<{ lane: number; due: Date }>(
    `select lane, min(run_at) as due from jobs where queue = 'hooks' and state in ('ready', 'delayed') and lane in (${marks(lanes)})
     group by lane`,
    lanes
  )
  return new Map(found.map(({ lane, due }) => [lane, due]))
}

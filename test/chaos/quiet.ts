// Waits until an appliance has nothing left to do.
import { setTimeout as sleep } from 'node:timers/promises'
import { query, type World } from './world.js'

/** Only a fault changes nothing for this long. A whole round may take longer on a busy machine. */
const STILL_MS = 180_000
/** A job that begins again and again changes something all the time. */
const LIMIT_MS = 1_800_000

interface Left {
  readonly jobs: string
  readonly changes: number
  readonly builds: string
  readonly deliveries: number
}

/** This ignores maintenance, which runs later by design, and dead jobs, which are a fault that another check finds. */
const LEFT = `select
  (select group_concat(concat(name, ' ', state, ' ', coalesce(left(error, 200), '')) separator '; ') from jobs
    where state <> 'dead' and queue <> 'maintenance') as jobs,
  (select count(*) from ref_changes where state = 'open') as changes,
  (select group_concat(concat(id, ' ', status, ' of process ', coalesce(process_id, 0)) separator '; ') from builds
    where status in ('created', 'pending', 'running')) as builds,
  (select count(*) from hook_deliveries where state = 'pending') as deliveries`

/**
 * Waits until nothing is in progress. It makes retries due at once, because this test is not about a day of waiting.
 */
export async function waitForQuiet(world: World): Promise<void> {
  const began = Date.now()
  let changed = began
  let last = 'the database does not answer'
  const note = (state: string) => {
    if (state !== last) changed = Date.now()
    last = state
  }
  for (let round = 0; Date.now() < Math.min(changed + STILL_MS, began + LIMIT_MS); round++) {
    try {
      const [left] = await query<Left>(world, LEFT)
      note(JSON.stringify(left))
      const isQuiet = left && !left.jobs && !left.builds && Number(left.changes) + Number(left.deliveries) === 0
      if (isQuiet && (await fetch(`${world.url}/-/readiness`)).ok) return
      if (round % 5 === 0) await hurry(world)
    } catch (error) {
      note(String(error))
    }
    await sleep(100)
  }
  const seconds = (since: number) => Math.round((Date.now() - since) / 1000)
  throw new Error(`not quiet after ${seconds(began)} s, unchanged for ${seconds(changed)} s: ${last}`)
}

async function hurry(world: World): Promise<void> {
  await query(world, 'update hooks set failures = 0, resting_until = null')
  await query(world, "update jobs set run_at = now(3) where state = 'delayed' and queue <> 'maintenance'")
}

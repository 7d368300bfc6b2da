// Settles ref changes whose process is gone. The next change of the ref, or the ref itself, tells which value it had, and
// so whether git did what was asked before the process ended.
import { config } from '../../config.js'
import { rows } from '../../db/sql.js'
import { refValue, ZERO } from '../../git/refs.js'
import { gitOutlives } from '../../git/survivors.js'
import { log } from '../../log.js'
import { machine, startOf } from '../../queue/processes.js'
import { repositoryPath } from '../projects/repositories.js'
import { type OpenChange, settle } from './ref-changes.js'

interface OpenRow {
  readonly id: number
  readonly project_id: number
  readonly ref: string
  readonly old_id: string
  readonly new_id: string
  readonly process: string
  readonly created_at: Date
  readonly storage: string | null
}

/** A git process of another machine, which cannot be looked for, may still finish for this long. */
const GRACE_MS = 300_000

/** What became of each open change by its id; undefined while that is not certain. */
type Outcomes = Map<number, boolean | undefined>

/** Settles what can be settled now; gives how many changes happened. */
export async function settleOpenChanges(now = new Date()): Promise<number> {
  const open = await rows<OpenRow>(
    `select c.id, c.project_id, c.ref, c.old_id, c.new_id, c.process, c.created_at, p.storage
     from ref_changes c left join projects p on p.id = c.project_id
     where c.state = 'open' order by c.id desc limit 1000`
  )
  const outcomes: Outcomes = new Map()
  // Newest first, as an older change of the same ref is told by what came after it.
  for (const change of open) {
    if (ownerLives(change, now)) continue
    outcomes.set(change.id, change.storage === null ? false : await outcomeOf(change, change.storage, now, outcomes))
  }
  // Together and in their order: the default branch is chosen among all that came with the first push.
  const decided = open.filter(({ id }) => outcomes.get(id) !== undefined).reverse()
  for (const projectId of new Set(decided.map(change => change.project_id))) {
    const own = decided.filter(change => change.project_id === projectId)
    const [done, undone] = [true, false].map(wanted => own.filter(({ id }) => outcomes.get(id) === wanted).map(asOpen))
    await settle(projectId, done ?? [], undone ?? [])
    log().info({ project: projectId, happened: done, did_not: undone }, 'ref changes were settled afterwards')
  }
  return decided.filter(({ id }) => outcomes.get(id)).length
}

/** How many changes are open whose process is gone. */
export async function abandonedChanges(now = new Date()): Promise<number> {
  const open = await rows<Pick<OpenRow, 'process' | 'created_at'>>(
    "select process, created_at from ref_changes where state = 'open' order by id desc limit 1000"
  )
  return open.filter(change => !ownerLives(change, now)).length
}

const asOpen = ({ id, ref, old_id, new_id }: OpenRow): OpenChange => ({ id, ref, old: old_id, new: new_id })

/** A process elsewhere cannot be looked at: it has as long as its git may run. */
function ownerLives({ process: owner, created_at }: Pick<OpenRow, 'process' | 'created_at'>, now: Date): boolean {
  const [where, pid, start] = owner.split('#')
  if (where === machine()) return startOf(Number(pid)) === Number(start)
  return now.getTime() - created_at.getTime() < (config().git.timeout + 60) * 1000
}

/** Whether it happened: the next change of the ref, or the ref, tells which value it had. */
async function outcomeOf(
  change: OpenRow,
  storage: string,
  now: Date,
  outcomes: Outcomes
): Promise<boolean | undefined> {
  const later = await rows<{ id: number; old_id: string; state: string }>(
    'select id, old_id, state from ref_changes where project_id = ? and ref = ? and id > ? order by id limit 1000',
    [change.project_id, change.ref, change.id]
  )
  const next = later.find(({ id }) => outcomes.get(id) !== false)
  if (next) return next.state === 'done' || outcomes.get(next.id) ? next.old_id === change.new_id : undefined
  const path = repositoryPath({ id: change.project_id, storage })
  // Looked for before the ref is: what ends in between has written its value by then.
  const over = await gitIsOver(change, now)
  const value = (await refValue(path, change.ref)) ?? ZERO
  if (value === change.new_id) return true
  return over ? false : undefined
}

/** Whether no git process can do the change any more. */
async function gitIsOver({ process: owner, created_at }: OpenRow, now: Date): Promise<boolean> {
  const [where, pid] = owner.split('#')
  if (where === machine()) return !(await gitOutlives(Number(pid)))
  return now.getTime() - created_at.getTime() > GRACE_MS
}

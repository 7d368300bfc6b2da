// Settles ref changes whose process ended. The next change of the ref, or the ref itself, shows which value the ref
// had, and so whether git made the change before the process ended.

import { hasLostLease, type Machines, readMachines } from '../../../cluster/machines.js'
import { holds, isCluster } from '../../../cluster/storages.js'
import { machine, ownerOf } from '../../../cluster/this-machine.js'
import { rows } from '../../../db/connect/sql.js'
import { gitOutlives } from '../../../git/process/orphan-processes.js'
import { refValue, ZERO } from '../../../git/refs/refs.js'
import { mayBeStale, removeStaleLocks } from '../../../git/repository/stale-locks.js'
import { log } from '../../../log.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { lockHorizon } from './lock-horizon.js'
import { isForgotten, type OpenChange, settle } from './ref-changes.js'

interface OpenRow {
  readonly id: number
  readonly project_id: number
  readonly ref: string
  readonly old_id: string
  readonly new_id: string
  readonly process: string
  readonly storage: string | null
}

/** Whether git made each open change, by id; undefined while that is uncertain. */
type Outcomes = Map<number, boolean | undefined>

/** Settles the open changes whose outcome is certain. Returns how many of them git made. */
export async function settleOpenChanges(): Promise<number> {
  if (hasLostLease()) return 0
  const open = await rows<OpenRow>(
    `select c.id, c.project_id, c.ref, c.old_id, c.new_id, c.process, p.storage
     from ref_changes c left join projects p on p.id = c.project_id
     where c.state = 'open' order by c.id desc limit 1000`
  )
  if (open.length === 0) return 0
  const machines = await readMachines()
  const outcomes: Outcomes = new Map()
  // Newest first, because the outcome of a change follows from the next change of the same ref.
  for (const change of open) {
    if (ownerLives(change, machines) && !isFenced(change)) continue
    if (change.storage !== null && !holds(change.storage)) continue
    const known = change.storage === null ? false : await outcomeOf(change, change.storage, machines, outcomes)
    outcomes.set(change.id, known)
  }
  // Settled together and in order: the default branch is chosen among all branches of the first push.
  const decided = open.filter(({ id }) => outcomes.get(id) !== undefined).reverse()
  for (const projectId of new Set(decided.map(change => change.project_id))) {
    const own = decided.filter(change => change.project_id === projectId)
    const [done, undone] = [true, false].map(wanted => own.filter(({ id }) => outcomes.get(id) === wanted).map(asOpen))
    await settle(projectId, done ?? [], undone ?? [])
    log().info({ project: projectId, happened: done, did_not: undone }, 'ref changes were settled afterwards')
  }
  return decided.filter(({ id }) => outcomes.get(id)).length
}

/** Returns the number of open changes whose process ended. */
export async function abandonedChanges(): Promise<number> {
  const open = await rows<Pick<OpenRow, 'process'>>(
    "select process from ref_changes where state = 'open' order by id desc limit 1000"
  )
  const machines = await readMachines()
  return open.filter(change => !ownerLives(change, machines)).length
}

/** Settles open changes regularly: a machine without a worker has to settle its own. Returns a function that stops this. */
export function settleRegularly(every: number): () => Promise<void> {
  let settling = Promise.resolve()
  const settleAll = () => {
    settling = settling
      .then(async () => void (await settleOpenChanges()))
      .catch(error => log().warn({ error: String(error) }, 'settling ref changes failed'))
  }
  settleAll()
  const timer = setInterval(settleAll, every)
  timer.unref()
  return () => {
    clearInterval(timer)
    return settling
  }
}

const asOpen = ({ id, ref, old_id, new_id }: OpenRow): OpenChange => ({ id, ref, old: old_id, new: new_id })

const ownerLives = ({ process: owner }: Pick<OpenRow, 'process'>, machines: Machines): boolean =>
  !isForgotten(owner) && machines.mayRun(owner)

/** Whether another machine began the change in a storage that this one owns now: it can no longer make it. */
const isFenced = ({ process: owner, storage }: Pick<OpenRow, 'process' | 'storage'>): boolean =>
  isCluster() && storage !== null && holds(storage) && ownerOf(owner).machine !== machine()

/** Returns whether git made the change: the next change of the ref, or the ref itself, shows its value. */
async function outcomeOf(
  change: OpenRow,
  storage: string,
  machines: Machines,
  outcomes: Outcomes
): Promise<boolean | undefined> {
  const next = await nextOf(change, outcomes)
  if (next) return follows(change, next, outcomes)
  const path = repositoryPath({ id: change.project_id, storage })
  // This check comes before the read of the ref: a git process that ends between the two has already written its value.
  const over = await gitIsOver(change, machines)
  if (over && !(await clearLocks(change, path))) return undefined
  const value = (await refValue(path, change.ref)) ?? ZERO
  if (value === change.new_id) return true
  // A client may have moved the ref since the first read. The row of that move was written before git made it.
  const later = await nextOf(change, outcomes)
  if (later) return follows(change, later, outcomes)
  return over ? false : undefined
}

interface NextRow {
  readonly id: number
  readonly old_id: string
  readonly state: string
}

/** Returns the next change of the ref, except those that git did not make. */
async function nextOf(change: OpenRow, outcomes: Outcomes): Promise<NextRow | undefined> {
  const later = await rows<NextRow>(
    'select id, old_id, state from ref_changes where project_id = ? and ref = ? and id > ? order by id limit 1000',
    [change.project_id, change.ref, change.id]
  )
  return later.find(({ id }) => outcomes.get(id) !== false)
}

/** Returns whether the next change began where this one ended; undefined while it is unknown whether git made the next one. */
const follows = (change: OpenRow, next: NextRow, outcomes: Outcomes): boolean | undefined =>
  next.state === 'done' || outcomes.get(next.id) ? next.old_id === change.new_id : undefined

/**
 * Removes the locks that a git that is gone left behind: they would block the ref permanently. Returns false while a lock is
 * there that may be its own, but is too young to be removed, or that may belong to another machine that lives.
 */
async function clearLocks(change: OpenRow, path: string): Promise<boolean> {
  const locks = await removeStaleLocks(path, () => lockHorizon(change.project_id))
  if (locks.length > 0) log().warn({ project: change.project_id, locks }, 'locks of a dead process were removed')
  return !(await mayBeStale(path))
}

/** Returns whether git can no longer make the change. */
async function gitIsOver(change: OpenRow, machines: Machines): Promise<boolean> {
  const { process: owner } = change
  if (isForgotten(owner) || isFenced(change)) return true
  const { machine: where, pid } = ownerOf(owner)
  if (where === machine()) return !(await gitOutlives(pid))
  return machines.isOver(where)
}

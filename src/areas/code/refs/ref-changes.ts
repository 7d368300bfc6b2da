// All ref changes take these steps: the rows of the intended changes are written, git makes the changes, and the effects of each
// change follow exactly once. If a process stops in between, settleOpenChanges reads from the refs which changes git made.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ActorUser } from '../../../access/actor.js'
import { hasEnded, lives } from '../../../cluster/clock.js'
import { joinMachines } from '../../../cluster/machines.js'
import { isCluster, requireEpoch } from '../../../cluster/storages.js'
import { endedProcess, processName } from '../../../cluster/this-machine.js'
import { execute, marks, row, rows, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Moved, NotFound, Unavailable } from '../../../errors.js'
import { ZERO } from '../../../git/refs/refs.js'
import type { PushResult } from '../../../git/transport/receive.js'
import { batches } from '../../../lib/batches.js'
import { plug } from '../../../lib/plug.js'
import { log } from '../../../log.js'
import { publishAll } from '../../ground/activity/events.js'
import { noteDoneWriteOf, noteWriteOf } from '../../people/credentials/uses/own-writes.js'
import { LONGEST_HOLD_S, replaceDefaultBranch } from '../../projects/projects/project-columns.js'
import { protectDefaultBranch } from '../../projects/projects/protection/branch-protections.js'
import type { StoredProject } from '../../projects/projects/repositories.js'

export type ChangeSource = 'push' | 'api'

export interface RefMove {
  readonly ref: string
  readonly old: string
  readonly new: string
  /** Whether the push asks for no pipeline. */
  readonly skipCi?: boolean
}

export interface OpenChange extends RefMove {
  readonly id: number
  /** The call that opened it; undefined in recovery. */
  readonly owner?: string
}

/** The calls of this process whose changes are not settled. */
const underway = new Map<string, Call>()

interface Call {
  readonly userId: number | null
  readonly source: ChangeSource
  readonly begun: Date
}

/** How often a change that waits for the move of its repository looks again. */
const LOOK_AGAIN_MS = 100
/** Longer than a project is held. */
const PATIENCE_MS = (LONGEST_HOLD_S + 10) * 1000

/**
 * Writes the rows of changes before git makes them. Returns them with their ids. If this fails, no row stays. Waits while the repository
 * moves to another storage. Throws Moved when it is not in the storage of `project` any more, NotFound for a removed project.
 */
export async function openChanges(
  project: StoredProject,
  user: Pick<ActorUser, 'id'> | null,
  source: ChangeSource,
  moves: readonly RefMove[]
): Promise<OpenChange[]> {
  await joinMachines()
  await noteWriteOf(user?.id)
  const now = new Date()
  // Unique to this call, so that its rows can be found even when the answer to the commit was lost.
  const owner = `${processName()}#${randomBytes(4).toString('hex')}`
  underway.set(owner, { userId: user?.id ?? null, source, begun: now })
  const valuesOf = ({ ref, old, new: next, skipCi = false }: RefMove) => [
    ...[project.id, ref, old, next, skipCi],
    ...[user?.id ?? null, source, owner, now]
  ]
  try {
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; ) {
      const open = await tryToOpen(project, owner, moves, valuesOf)
      if (open !== null) return open
      await sleep(LOOK_AGAIN_MS)
    }
    throw new Unavailable('the repository is moving to another storage', 5)
  } catch (error) {
    // The database may still commit them. Then `isForgotten` is true for them.
    underway.delete(owner)
    throw error
  }
}

const INSERT = `insert into ref_changes (project_id, ref, old_id, new_id, skip_ci, user_id, source, process, created_at)`

/** Returns null while the project is held. */
async function tryToOpen(
  project: StoredProject,
  owner: string,
  moves: readonly RefMove[],
  valuesOf: (move: RefMove) => readonly Value[]
): Promise<OpenChange[] | null> {
  const [only] = moves
  // Most calls have one change: a single statement needs no transaction, and returns the id of its row.
  if (only && moves.length === 1 && !isCluster()) {
    const { affectedRows, insertId } = await execute(
      `${INSERT} select ?, ?, ?, ?, ?, ?, ?, ?, ? from projects
       where id = ? and storage = ? and (held_until is null or ${hasEnded('held_until', LONGEST_HOLD_S)}) lock in share mode`,
      [...valuesOf(only), project.id, project.storage]
    )
    if (affectedRows === 1) return [{ ...only, id: insertId, owner }]
  }
  return transact(async () => {
    if (!(await isFree(project))) return null
    const open: OpenChange[] = []
    for (let at = 0; at < moves.length; at += 500) {
      const part = moves.slice(at, at + 500)
      const { insertId } = await execute(
        `${INSERT} values ${part.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
        part.flatMap(valuesOf)
      )
      open.push(...(await idsFrom(insertId, part, project.id, owner)))
    }
    return open
  })
}

/**
 * Returns whether changes of the refs of a project may begin. Until the end of the transaction, nobody can hold or move the project, and
 * no other machine can take its storage.
 */
async function isFree({ id, storage }: StoredProject): Promise<boolean> {
  const found = await row<{ storage: string; is_held: number; epoch: number | null }>(
    `select p.storage, coalesce(${lives('p.held_until', LONGEST_HOLD_S)}, false) as is_held, s.epoch
     from projects p left join storages s on s.name = p.storage where p.id = ? lock in share mode`,
    [id]
  )
  if (!found) throw new NotFound('Project')
  if (found.storage !== storage) throw new Moved(found.storage)
  if (found.is_held === 1) return false
  requireEpoch(storage, found.epoch)
  return true
}

/** The ids of one insert ascend, but not by one in a cluster, so they are read back. */
async function idsFrom(first: number, part: readonly RefMove[], projectId: number, owner: string) {
  const found = await rows<{ id: number }>(
    `select id from ref_changes where id >= ? and project_id = ? and process = ? and state = 'open'
     order by id limit ${part.length}`,
    [first, projectId, owner]
  )
  return part.map((move, index) => ({ ...move, id: found[index]?.id ?? 0, owner }))
}

/** Settles changes by git's result for each. Retries while the database is not available. Never throws. */
export async function settleChanges(
  project: { id: number },
  open: readonly OpenChange[],
  results: readonly Pick<PushResult, 'ref' | 'ok'>[]
): Promise<void> {
  const author = underway.get(open[0]?.owner ?? '')?.userId
  const moved = new Set(results.filter(({ ok }) => ok).map(({ ref }) => ref))
  const done = open.filter(({ ref }) => moved.has(ref))
  const undone = open.filter(({ ref }) => !moved.has(ref))
  // The rows exist already, so accepted changes get their effects when the database is available again.
  await untilDone('ref changes could not be settled yet', open, () => settle(project.id, done, undone))
  // The push may have taken longer than its first note lasts.
  await noteDoneWriteOf(author)
}

/** Leaves changes with an unknown result to recovery, which reads the refs. Never throws. */
export async function abandonChanges(open: readonly Pick<OpenChange, 'id' | 'owner'>[]): Promise<void> {
  await untilDone('ref changes could not be given up yet', open, async () => {
    for (let at = 0; at < open.length; at += 500) {
      const ids = open.slice(at, at + 500).map(({ id }) => id)
      await execute(`update ref_changes set process = ? where state = 'open' and id in (${marks(ids)})`, [
        endedProcess(),
        ...ids
      ])
    }
  })
}

/** Leaves all open changes to recovery: in a restored copy their processes do not exist. */
export async function disownChanges(): Promise<void> {
  await execute("update ref_changes set process = ? where state = 'open'", [endedProcess()])
}

/** Waits for one attempt. After a failure it retries in the background until the work succeeds. */
async function untilDone(
  message: string,
  open: readonly Pick<OpenChange, 'owner'>[],
  work: () => Promise<unknown>
): Promise<void> {
  try {
    await work()
    for (const { owner = '' } of open) underway.delete(owner)
  } catch (error) {
    log().error({ error }, message)
    setTimeout(() => void untilDone(message, open, work), 1000).unref()
  }
}

/**
 * Returns whether an open change belongs to this process, but no call of it will settle it: the answer to its insert was lost
 * with the connection, and the database committed it later. Git never began such a change. A call may take hours: its client
 * may send a large pack slowly.
 */
export const isForgotten = (owner: string): boolean => owner.startsWith(`${processName()}#`) && !underway.has(owner)

type PreparePush = (projectId: number, change: OpenChange) => Promise<(() => void) | undefined>

/**
 * Prepares the effects of a change that git has made, which the transaction of the change then writes. Returns a function that forgets
 * them; undefined when somebody waits for the change, so that a job has to handle it. Never throws.
 */
export const preparedPushes = plug<PreparePush>('preparedPushes')

/** Updates the rows and the project's default branch, and publishes the events, in one transaction. */
export async function settle(
  projectId: number,
  done: readonly OpenChange[],
  undone: readonly OpenChange[]
): Promise<void> {
  const [only] = done
  const forget = only && done.length + undone.length === 1 ? await (await preparedPushes())(projectId, only) : undefined
  await settleAll(projectId, done, undone, forget !== undefined).finally(forget)
}

async function settleAll(
  projectId: number,
  done: readonly OpenChange[],
  undone: readonly OpenChange[],
  quiet: boolean
): Promise<void> {
  await transact(async () => {
    const now = new Date()
    const mine: OpenChange[] = []
    for (let at = 0; at < done.length; at += 500) {
      const part = done.slice(at, at + 500)
      const closed = await closeOpen(part, now)
      mine.push(...closed, ...(closed.length < part.length ? await addRemoved(projectId, part, closed, now) : []))
    }
    for (let at = 0; at < undone.length; at += 500) {
      const ids = undone.slice(at, at + 500).map(({ id }) => id)
      await execute(`delete from ref_changes where state = 'open' and id in (${marks(ids)})`, ids)
    }
    await nameDefaultBranch(projectId, mine)
    await forgetReleases(mine)
    await publishAll(mine.map(({ id }) => ({ kind: 'ref.changed', refChangeId: id, ...(quiet && { quiet }) })))
  })
}

/** Marks changes as done. Returns those that were still open. */
async function closeOpen(changes: readonly OpenChange[], now: Date): Promise<readonly OpenChange[]> {
  const ids = changes.map(({ id }) => id)
  if (changes.length === 1) {
    const { affectedRows } = await execute(
      "update ref_changes set state = 'done', settled_at = ? where id = ? and state = 'open'",
      [now, ...ids]
    )
    return affectedRows === 1 ? changes : []
  }
  const found = await rows<{ id: number }>(
    `select id from ref_changes where state = 'open' and id in (${marks(ids)}) order by id for update`,
    ids
  )
  const open = new Set(found.map(({ id }) => id))
  if (open.size === 0) return []
  await execute(`update ref_changes set state = 'done', settled_at = ? where id in (${marks(found)})`, [now, ...open])
  return changes.filter(({ id }) => open.has(id))
}

/**
 * Adds the rows of changes again that this process began and git made, but that another machine has removed: it took this machine
 * for lost while this machine did not reach the database. Returns these changes.
 */
async function addRemoved(
  projectId: number,
  changes: readonly OpenChange[],
  closed: readonly OpenChange[],
  now: Date
): Promise<readonly OpenChange[]> {
  const added: OpenChange[] = []
  if (!(await row('select 1 from projects where id = ?', [projectId]))) return added
  for (const change of changes.filter(one => !closed.includes(one))) {
    const { owner = '', ref, old, new: next, skipCi = false } = change
    const call = underway.get(owner)
    // Without a call, this is recovery itself. With a row, somebody else has settled the change.
    if (
      !call ||
      (await row('select 1 from ref_changes where project_id = ? and ref = ? and process = ?', [projectId, ref, owner]))
    )
      continue
    const { insertId } = await execute(
      `insert into ref_changes (project_id, ref, old_id, new_id, skip_ci, user_id, source, process, created_at, state, settled_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, 'done', ?)`,
      [projectId, ref, old, next, skipCi, call.userId, call.source, owner, call.begun, now]
    )
    added.push({ ...change, id: insertId })
  }
  return added
}

/**
 * Makes the first branch of an empty project its default branch; `master` or `main` when a push has several. The order
 * is that of the requests: a change that recovery settles late replaces a branch that was requested after it.
 */
async function nameDefaultBranch(projectId: number, changes: readonly OpenChange[]): Promise<void> {
  const made = changes.filter(
    ({ ref, old, new: next }) => ref.startsWith('refs/heads/') && old === ZERO && next !== ZERO
  )
  const called = (name: string) => made.find(({ ref }) => ref === `refs/heads/${name}`)
  const first = called('master') ?? called('main') ?? made[0]
  if (!first) return
  // Another process may set it between the read and the write.
  for (let tries = 0, named = false; !named && tries < 5; tries++) {
    const known = await row<{ default_branch: string | null; change_id: number | null }>(
      `select p.default_branch, (select max(c.id) from ref_changes c where c.project_id = p.id and c.old_id = ?
         and c.ref = concat('refs/heads/', p.default_branch)) as change_id from projects p where p.id = ?`,
      [ZERO, projectId]
    )
    if (!known || (known.default_branch !== null && (known.change_id ?? 0) <= first.id)) return
    const branch = first.ref.slice('refs/heads/'.length)
    named = await replaceDefaultBranch(projectId, known.default_branch, branch)
    // Not specified: who creates the first branch. Anybody who may push, because nothing is protected yet.
    if (named) await protectDefaultBranch(projectId, branch, known.default_branch)
  }
}

/**
 * Deletes releases with their tags. A release that was written while its tag was being deleted does not belong to the
 * next tag with that name. A change that is settled late keeps the releases that were written after it.
 */
async function forgetReleases(changes: readonly OpenChange[]): Promise<void> {
  const tags = changes.filter(
    ({ ref, old, new: next }) => ref.startsWith('refs/tags/') && (old === ZERO || next === ZERO)
  )
  for (const part of batches(tags, 500)) {
    await execute(
      `delete r from releases r join ref_changes c on r.project_id = c.project_id
         and r.tag = substring(c.ref, ${'refs/tags/'.length + 1})
       where c.id in (${marks(part)})
         and (r.created_at < c.created_at or (c.new_id = ? and r.created_at = c.created_at))`,
      [...part.map(({ id }) => id), ZERO]
    )
  }
}

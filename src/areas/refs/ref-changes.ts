// The one road of ref changes: rows that say what is about to happen, then git, then the effects, each change exactly
// once. Whatever stops the road in between, settleOpenChanges finds out from the refs what really happened.
import { randomBytes } from 'node:crypto'
import type { ActorUser } from '../../access/actor.js'
import { execute, marks, row, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import type { PushResult } from '../../git/receive.js'
import { ZERO } from '../../git/refs.js'
import { log } from '../../log.js'
import { machine, startOf } from '../../queue/processes.js'
import { tellAll } from '../activity/happenings.js'

export type ChangeSource = 'push' | 'api'

export interface RefMove {
  readonly ref: string
  readonly old: string
  readonly new: string
}

export interface OpenChange extends RefMove {
  readonly id: number
}

/** Who settles a change: this process, told from a later one with the same pid. */
export const processName = () => `${machine()}#${process.pid}#${startOf(process.pid) ?? 0}`

/** As a change's owner: nobody, who lives no more, so that recovery settles it at once. */
const nobody = () => `${machine()}#0#0`

/** Writes down changes that git is about to be asked for; when that fails none stays behind. */
export async function openChanges(
  project: { id: number },
  user: Pick<ActorUser, 'id'> | null,
  source: ChangeSource,
  moves: readonly RefMove[]
): Promise<OpenChange[]> {
  const now = new Date()
  // Of this call alone, so that its rows can be told from others' even when the answer to the commit was lost.
  const owner = `${processName()}#${randomBytes(4).toString('hex')}`
  try {
    return await transact(async () => {
      const open: OpenChange[] = []
      for (let at = 0; at < moves.length; at += 500) {
        const part = moves.slice(at, at + 500)
        const { insertId } = await execute(
          `insert into ref_changes (project_id, ref, old_id, new_id, user_id, source, process, created_at)
           values ${part.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
          part.flatMap(move => [project.id, move.ref, move.old, move.new, user?.id ?? null, source, owner, now])
        )
        open.push(...(await idsFrom(insertId, part, project.id, owner)))
      }
      return open
    })
  } catch (error) {
    const which = 'state = ? and created_at = ? and process = ?'
    untilDone('changes could not be forgotten yet', () =>
      execute(`delete from ref_changes where ${which}`, ['open', now, owner])
    )
    throw error
  }
}

/** Ids of one insert ascend, but a cluster's do not ascend by one: they are read back. */
async function idsFrom(first: number, part: readonly RefMove[], projectId: number, owner: string) {
  const found = await rows<{ id: number }>(
    `select id from ref_changes where id >= ? and project_id = ? and process = ? and state = 'open'
     order by id limit ${part.length}`,
    [first, projectId, owner]
  )
  return part.map((move, index) => ({ ...move, id: found[index]?.id ?? 0 }))
}

/** Settles changes by what git said of each. While the database is away it goes on trying; it never throws. */
export async function settleChanges(
  project: { id: number },
  open: readonly OpenChange[],
  results: readonly Pick<PushResult, 'ref' | 'ok'>[]
): Promise<void> {
  const moved = new Set(results.filter(({ ok }) => ok).map(({ ref }) => ref))
  const done = open.filter(({ ref }) => moved.has(ref))
  const undone = open.filter(({ ref }) => !moved.has(ref))
  // The rows are written: what was accepted has its effects when the database is back.
  await untilDone('ref changes could not be settled yet', () => settle(project.id, done, undone))
}

/** Leaves changes of which nobody here knows what git made of them to recovery, which looks at the refs. Never throws. */
export async function abandonChanges(open: readonly OpenChange[]): Promise<void> {
  await untilDone('ref changes could not be given up yet', async () => {
    for (let at = 0; at < open.length; at += 500) {
      const ids = open.slice(at, at + 500).map(({ id }) => id)
      await execute(`update ref_changes set process = ? where state = 'open' and id in (${marks(ids)})`, [
        nobody(),
        ...ids
      ])
    }
  })
}

/** Leaves all open changes to recovery: in a restored copy nobody is left who could settle them. */
export async function disownChanges(): Promise<void> {
  await execute("update ref_changes set process = ? where state = 'open'", [nobody()])
}

/** Tries once, and again in the background until it works. */
async function untilDone(complaint: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    log().error({ error }, complaint)
    setTimeout(() => void untilDone(complaint, work), 1000).unref()
  }
}

/** In one transaction: the rows, what the project remembers of its branches, and the telling of it. */
export async function settle(
  projectId: number,
  done: readonly OpenChange[],
  undone: readonly OpenChange[]
): Promise<void> {
  await transact(async () => {
    const now = new Date()
    const mine: OpenChange[] = []
    for (let at = 0; at < done.length; at += 500) mine.push(...(await closeOpen(done.slice(at, at + 500), now)))
    for (let at = 0; at < undone.length; at += 500) {
      const ids = undone.slice(at, at + 500).map(({ id }) => id)
      await execute(`delete from ref_changes where state = 'open' and id in (${marks(ids)})`, ids)
    }
    await nameDefaultBranch(projectId, mine)
    await tellAll(mine.map(({ id }) => ({ kind: 'ref.changed', refChangeId: id })))
  })
}

/** Marks changes as done; gives those that nobody else had settled. */
async function closeOpen(changes: readonly OpenChange[], now: Date): Promise<OpenChange[]> {
  const ids = changes.map(({ id }) => id)
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
 * The first branch of an empty project is its default one; `master` or `main` when they come together. First is what was
 * asked for first: a change that recovery settles late takes the place from one that was asked for after it.
 */
async function nameDefaultBranch(projectId: number, changes: readonly OpenChange[]): Promise<void> {
  const made = changes.filter(
    ({ ref, old, new: next }) => ref.startsWith('refs/heads/') && old === ZERO && next !== ZERO
  )
  const called = (name: string) => made.find(({ ref }) => ref === `refs/heads/${name}`)
  const first = called('master') ?? called('main') ?? made[0]
  if (!first) return
  // Somebody else may name it between the look and the write.
  for (let tries = 0, named = false; !named && tries < 5; tries++) {
    const known = await row<{ default_branch: string | null; change_id: number | null }>(
      `select p.default_branch, (select max(c.id) from ref_changes c where c.project_id = p.id and c.old_id = ?
         and c.ref = concat('refs/heads/', p.default_branch)) as change_id from projects p where p.id = ?`,
      [ZERO, projectId]
    )
    if (!known || (known.default_branch !== null && (known.change_id ?? 0) <= first.id)) return
    const { affectedRows } = await execute(
      'update projects set default_branch = ? where id = ? and default_branch <=> ?',
      [first.ref.slice('refs/heads/'.length), projectId, known.default_branch]
    )
    named = affectedRows > 0
  }
}

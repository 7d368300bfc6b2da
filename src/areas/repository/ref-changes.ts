// The one road of ref changes: rows that say what is about to happen, then git, then the effects, each change exactly
// once. Whatever stops the road in between, settleOpenChanges finds out from the refs what really happened.
import type { ActorUser } from '../../access/actor.js'
import { deleteInBatches, execute, marks, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import type { PushResult } from '../../git/receive.js'
import { ZERO } from '../../git/refs.js'
import { log } from '../../log.js'
import { enqueueAll } from '../../queue/enqueue.js'
import { machine, startOf } from '../../queue/processes.js'

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

/** Writes down changes that git is about to be asked for. */
export async function openChanges(
  project: { id: number },
  user: Pick<ActorUser, 'id'> | null,
  source: ChangeSource,
  moves: readonly RefMove[]
): Promise<OpenChange[]> {
  const now = new Date()
  const process = processName()
  return transact(async () => {
    const open: OpenChange[] = []
    for (let at = 0; at < moves.length; at += 500) {
      const part = moves.slice(at, at + 500)
      const { insertId } = await execute(
        `insert into ref_changes (project_id, ref, old_id, new_id, user_id, source, process, created_at)
         values ${part.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
        part.flatMap(move => [project.id, move.ref, move.old, move.new, user?.id ?? null, source, process, now])
      )
      open.push(...(await idsFrom(insertId, part, project.id, process)))
    }
    return open
  })
}

/** Ids of one insert ascend, but a cluster's do not ascend by one: they are read back. */
async function idsFrom(first: number, part: readonly RefMove[], projectId: number, process: string) {
  const found = await rows<{ id: number }>(
    `select id from ref_changes where id >= ? and project_id = ? and process = ? and state = 'open'
     order by id limit ${part.length}`,
    [first, projectId, process]
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
  try {
    await settle(project.id, done, undone)
  } catch (error) {
    // The rows are written: what was accepted has its effects when the database is back.
    log().error({ error: String(error), project: project.id }, 'ref changes could not be settled yet')
    setTimeout(() => void settleChanges(project, open, results), 1000).unref()
  }
}

/** In one transaction: the rows, what the project remembers of its branches, and the jobs of the effects. */
export async function settle(
  projectId: number,
  done: readonly OpenChange[],
  undone: readonly OpenChange[]
): Promise<void> {
  await transact(async () => {
    const now = new Date()
    const mine: OpenChange[] = []
    for (const change of done) {
      const { affectedRows } = await execute(
        "update ref_changes set state = 'done', settled_at = ? where id = ? and state = 'open'",
        [now, change.id]
      )
      if (affectedRows === 1) mine.push(change)
    }
    for (let at = 0; at < undone.length; at += 500) {
      const ids = undone.slice(at, at + 500).map(({ id }) => id)
      await execute(`delete from ref_changes where state = 'open' and id in (${marks(ids)})`, ids)
    }
    await nameDefaultBranch(projectId, mine)
    await enqueueAll(
      'ref.changed',
      mine.map(({ id }) => ({ refChangeId: id }))
    )
  })
}

/** Removes changes that were settled before; gives how many. */
export function removeOldChanges(before: Date): Promise<number> {
  return deleteInBatches("delete from ref_changes where state = 'done' and settled_at < ?", [before])
}

/** The first branch of an empty project is its default one; `master` or `main` when they come together. */
async function nameDefaultBranch(projectId: number, changes: readonly OpenChange[]): Promise<void> {
  const branches = changes
    .filter(({ ref, old, new: next }) => ref.startsWith('refs/heads/') && old === ZERO && next !== ZERO)
    .map(({ ref }) => ref.slice('refs/heads/'.length))
  const first = branches.find(name => name === 'master') ?? branches.find(name => name === 'main') ?? branches[0]
  if (first === undefined) return
  await execute('update projects set default_branch = ? where id = ? and default_branch is null', [first, projectId])
}

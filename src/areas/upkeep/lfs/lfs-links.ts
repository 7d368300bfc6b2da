// Takes from each project the LFS objects that none of its refs holds, if nobody has needed them for `lfs.keep_days`.
import { existsSync } from 'node:fs'
import { config } from '../../../config.js'
import { rows } from '../../../db/connect/sql.js'
import { Failure } from '../../../errors.js'
import { findPointers } from '../../../git/history/lfs-pointers.js'
import { readRefFiles } from '../../../git/refs/files.js'
import { batches } from '../../../lib/batches.js'
import { daysAgo, type Task, type TaskContext } from '../../../queue/task.js'
import { forgetLfsSizes } from '../../projects/lfs/sizes.js'
import { idleLinks, lastRefChange, noteScan, type ScannedProject, unlinkIdle } from '../../projects/lfs/unused.js'
import { ofThisMachine, repositoryPath } from '../../projects/projects/repositories.js'

/** A search reads every small file of a history. */
const AGAIN_DAYS = 7
/** A run begins no search after this time, because other tasks of the queue are waiting. */
const TIME_MS = 600_000
const MOST_PROJECTS = 10_000
/** Links that a search keeps in memory. The next search of a project with more takes the others. */
const MOST_LINKS = 1_000_000
/** How often a search follows refs that move during it. Each time takes only what the new commits brought. */
const MOST_FOLLOWED = 10

export const lfsLinks: Task = {
  name: 'lfs_links',
  usesRepositories: true,
  schedule: '23 3 * * *',
  about: 'takes LFS objects from projects in which no ref has held them for `lfs.keep_days` days',
  run: async context => {
    if (!context.dryRun) await forgetLfsSizes()
    const end = Date.now() + TIME_MS
    const waiting = await dueProjects()
    let failed = 0
    for (let next = waiting.shift(); next; next = Date.now() < end ? waiting.shift() : undefined) {
      context.signal.throwIfAborted()
      try {
        await takeUnused(next, context)
      } catch (error) {
        if (context.signal.aborted) throw error
        context.note(`project ${next.id}: ${error instanceof Error ? error.message : error}`)
        failed++
      }
      // A project that cannot be searched waits for its next turn, so that it does not delay the others.
      if (!context.dryRun) await noteScan(next.id)
    }
    return { failed, left: waiting.length }
  }
}

/** Projects with objects that nobody has touched for long, those first that were searched longest ago. */
function dueProjects(): Promise<ScannedProject[]> {
  const { sql: ours, values } = ofThisMachine('p.storage')
  return rows<ScannedProject>(
    `select p.id, p.storage, p.default_branch from projects p
     join (select distinct project_id from lfs_links) l on l.project_id = p.id left join lfs_scans s on s.project_id = p.id
     where ${ours} and (s.scanned_at is null or s.scanned_at < ?) and p.import_state is null
       and exists (select 1 from lfs_links i where i.project_id = p.id and i.touched_at < ?)
     order by s.scanned_at, p.id limit ${MOST_PROJECTS}`,
    [...values, daysAgo(AGAIN_DAYS), idleSince()]
  )
}

const idleSince = () => daysAgo(config().lfs.keep_days)

/** Takes from a project what its refs do not hold. Throws Failure while its refs move all the time, or when they cannot be read. */
async function takeUnused(project: ScannedProject, { dryRun, signal, count, note }: TaskContext): Promise<void> {
  const before = idleSince()
  const idle = await idleOf(project.id, before)
  if (idle.size === 0) return
  const path = repositoryPath(project)
  const known = new Set<string>()
  for (let tries = 0; tries < MOST_FOLLOWED; tries++) {
    const lastChange = await lastRefChange(project.id)
    const tips = [...new Set(tipsOf(path, project))]
    const fresh = tips.filter(id => !known.has(id))
    await findPointers(path, { tips: fresh, without: [...known] }, signal, oid => idle.delete(oid))
    for (const id of fresh) known.add(id)
    if (dryRun || (await unlink(project.id, { idle, before, lastChange, signal }))) {
      if (idle.size === 0) return
      count(idle.size)
      const bytes = [...idle.values()].reduce((sum, size) => sum + size, 0)
      note(`project ${project.id}: ${idle.size} objects of ${bytes} bytes`)
      return
    }
  }
  throw new Failure('its refs move all the time: the next run tries again')
}

async function idleOf(projectId: number, before: Date): Promise<Map<string, number>> {
  const idle = new Map<string, number>()
  for await (const page of idleLinks(projectId, before)) {
    for (const { oid, size } of page) idle.set(oid, size)
    if (idle.size >= MOST_LINKS) break
  }
  return idle
}

/** A repository that is not there, or has lost its refs, holds nothing: then nothing may be removed. */
function tipsOf(path: string, { default_branch: branch }: ScannedProject): string[] {
  if (!existsSync(path)) throw new Failure('its repository does not exist')
  const tips = [...readRefFiles(path).values()]
  if (tips.length === 0 && branch !== null) throw new Failure('its repository has no refs')
  return tips
}

interface Unlinking {
  readonly idle: Map<string, number>
  readonly before: Date
  readonly lastChange: number
  readonly signal: AbortSignal
}

/** Returns false when a ref has moved: then the rest of `idle` waits for another look. */
async function unlink(projectId: number, { idle, before, lastChange, signal }: Unlinking): Promise<boolean> {
  for (const oids of batches([...idle.keys()], 500)) {
    signal.throwIfAborted()
    if ((await unlinkIdle(projectId, { oids, before, lastChange })) === null) return false
  }
  return true
}

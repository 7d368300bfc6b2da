// Keeps repositories packed. A run checks the repositories with pushes since the last check, and every repository once
// a month. It begins with those that have waited longest, and leaves the rest to the next run.
import { existsSync } from 'node:fs'
import { execute, row, rows } from '../../../db/connect/sql.js'
import {
  countObjectFiles,
  hasCommitGraph,
  needsBitmap,
  repackRepository,
  writeCommitGraph
} from '../../../git/repository/maintenance.js'
import { repositorySize } from '../../../git/repository/size.js'
import { daysAgo, type Task, type TaskContext } from '../../../queue/task.js'
import { ofThisMachine, repositoryPath } from '../../projects/projects/repositories.js'
import { clearLocksOf } from './stale-locks.js'
import { measureProject } from './statistics.js'

/** Commits of the API and small pushes leave loose objects. Below these limits, reading is as fast as from one pack. */
const LOOSE_OBJECTS = 2000
const PACKS = 20
/** A repack uses the disk and the processors, and requests need them more. */
const AT_ONCE = 2
/** A run begins no repository after this time, because other tasks of the queue are waiting. */
const TIME_MS = 600_000
const LOOK_AGAIN_HOURS = 20
const LOOK_ANYWAY_DAYS = 30
/** More repositories than a run has time for. */
const MOST = 10_000
/** Projects among which a run looks for missing rows, at least. */
const PART = 1000

/** The files of a repository. */
export interface Files {
  readonly objects: number
  readonly packs: number
  readonly bytes: number
}

async function filesOf(path: string, signal?: AbortSignal): Promise<Files> {
  return { ...(await countObjectFiles(path, signal)), bytes: await repositorySize(path) }
}

/**
 * Packs the repository of a project, regardless of its state, when a person requests it. Returns null for a project without a
 * repository yet. Call it with the lock of `repository_upkeep` held: two concurrent repacks would do the work twice.
 */
export async function packNow(project: DueRow, signal: AbortSignal): Promise<{ before: Files; after: Files } | null> {
  const path = repositoryPath(project)
  if (!existsSync(path)) return null
  const before = await filesOf(path, signal)
  await repackRepository(path, signal)
  await writeCommitGraph(path, signal)
  await measureProject(project, signal)
  await noteLook(project.id, true)
  return { before, after: await filesOf(path, signal) }
}

interface DueRow {
  readonly id: number
  readonly storage: string
  readonly default_branch: string | null
}

export const repositoryUpkeep: Task = {
  name: 'repository_upkeep',
  usesRepositories: true,
  schedule: '13 * * * *',
  about: 'repacks repositories with many loose objects or packs, and writes missing commit graphs',
  run: keepUp
}

async function keepUp(context: TaskContext) {
  const waiting = await findDue()
  const figures = { looked: 0, failed: 0, left: 0 }
  const end = Date.now() + TIME_MS
  const work = async () => {
    for (let next = waiting.shift(); next; next = Date.now() < end ? waiting.shift() : undefined) {
      context.signal.throwIfAborted()
      figures.looked += 1
      if (!(await keepUpOne(next, context))) figures.failed += 1
    }
  }
  // Waits for all: no work may outlive the lock.
  const outcomes = await Promise.allSettled(Array.from({ length: AT_ONCE }, work))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  if (figures.failed > 0) throw new Error(`${figures.failed} repositories could not be maintained: see the notes`)
  return { ...figures, left: waiting.length }
}

/** A repository whose upkeep failed waits for its next turn like the others, so that it does not delay them. */
async function keepUpOne({ id, storage, default_branch }: DueRow, context: TaskContext): Promise<boolean> {
  const path = repositoryPath({ id, storage })
  let [done, repacked]: [boolean, boolean] = [true, false]
  try {
    if (existsSync(path)) {
      if (!context.dryRun) await clearLocksOf({ id, storage })
      repacked = await tidy(id, path, default_branch !== null, context)
      if (!context.dryRun) await measureProject({ id, storage, default_branch }, context.signal)
    }
  } catch (error) {
    if (context.signal.aborted) throw error
    context.note(`project ${id}: ${error instanceof Error ? error.message : error}`)
    done = false
  }
  if (context.dryRun) return done
  await noteLook(id, repacked)
  return done
}

/** Repacks the repository or writes its graph, if needed. Returns whether it repacked. */
async function tidy(id: number, path: string, hasCommits: boolean, context: TaskContext): Promise<boolean> {
  const { dryRun, signal, count, note } = context
  const { objects, packs } = await countObjectFiles(path, signal)
  const repack = objects >= LOOSE_OBJECTS || packs >= PACKS || (await needsBitmap(path))
  const graph = repack || (hasCommits && !(await hasCommitGraph(path)))
  if (!graph) return false
  count()
  note(`project ${id}: ${repack ? `${objects} loose objects, ${packs} packs` : 'no commit graph'}`)
  if (dryRun) return false
  if (repack) await repackRepository(path, signal)
  await writeCommitGraph(path, signal)
  return repack
}

/**
 * A repository is also due a month after the last check: only then the objects that a forced push left are removed. Each part of the
 * statement reads what it finds, and not all projects. A project without activity for a month has a row in `repository_upkeeps`,
 * unless it was restored: so each run looks for missing rows among some of the projects only.
 */
export async function findDue(): Promise<DueRow[]> {
  const [month, hours] = [daysAgo(LOOK_ANYWAY_DAYS), new Date(Date.now() - LOOK_AGAIN_HOURS * 3_600_000)]
  const { sql: ours, values } = ofThisMachine('p.storage')
  const columns = 'p.id, p.storage, p.default_branch, u.looked_at'
  return rows<DueRow>(
    `select id, storage, default_branch from (
       (select ${columns} from repository_upkeeps u force index (repository_upkeeps_looked)
          straight_join projects p on p.id = u.project_id where u.looked_at < ? and ${ours} order by u.looked_at limit ${MOST})
       union
       (select ${columns} from projects p force index (projects_activity) left join repository_upkeeps u on u.project_id = p.id
        where p.archived in (0, 1) and p.last_activity_at >= ?
          and (u.looked_at is null or (u.looked_at < ? and p.last_activity_at >= u.looked_at)) and ${ours})
       union
       (select ${columns} from projects p left join repository_upkeeps u on u.project_id = p.id
        where p.id > ? and p.id <= ? and u.project_id is null and ${ours})) due
     order by looked_at, id limit ${MOST}`,
    [month, ...values, month, hours, ...values, ...(await partOfProjects()), ...values]
  )
}

/** Returns the numbers after and up to which this run looks for missing rows. The runs of a day look at all projects. */
async function partOfProjects(): Promise<[after: number, last: number]> {
  const found = await row<{ last: number | null }>('select max(id) as last from projects')
  const last = found?.last ?? 0
  const size = Math.max(PART, Math.ceil(last / 24))
  const part = new Date().getUTCHours() % Math.max(1, Math.ceil(last / size))
  return [part * size, (part + 1) * size]
}

/** Writes nothing when the project was removed in the meantime, because a repack takes long. */
async function noteLook(projectId: number, repacked: boolean): Promise<void> {
  const now = new Date()
  const repackedAt = repacked ? now : null
  await execute(
    `insert into repository_upkeeps (project_id, looked_at, repacked_at) select id, ?, ? from projects where id = ?
     on duplicate key update looked_at = ?, repacked_at = coalesce(?, repacked_at)`,
    [now, repackedAt, projectId, now, repackedAt]
  )
}

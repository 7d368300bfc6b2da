// Copies the repositories of all projects in the snapshot, three at a time, and then resets their refs to the snapshot. Other machines
// read out those of their storages.
import { join } from 'node:path'
import { OwnerAway } from '../../../cluster/repository-elsewhere.js'
import { row } from '../../../db/connect/sql.js'
import type { Snapshot } from '../../../db/snapshot/snapshot.js'
import { isRefName } from '../../../git/refs/refs.js'
import type { Original } from '../../../git/repository/original.js'
import { mapBounded } from '../../../lib/bounded.js'
import { noteFault } from '../../code/repository/integrity.js'
import { withPatience } from '../../projects/projects/elsewhere/patience.js'
import { repositoryInHome } from '../../projects/projects/repositories.js'
import { copyRepository, damagedObjects, PACKED_REFS } from './copy-repository.js'
import { type DamagedFile, readFileList, type Unit } from './manifest.js'
import { type KnownChanges, readNews, rewindRefs } from './reset-refs.js'
import { type Draft, UnitWriter } from './unit.js'

export interface ProjectToCopy {
  readonly id: number
  readonly storage: string
  readonly default_branch: string | null
  /** NAMESPACE/PROJECT. */
  readonly path: string
}

/** Several large files can wait for the disk at the same time. Small files are copied one by one anyway. */
const AT_ONCE = 3

export const listProjectsToCopy = (snapshot: Snapshot) =>
  snapshot.rows<ProjectToCopy>(
    `select p.id, p.storage, p.default_branch, concat(n.path, '/', p.path) as path
     from projects p join namespaces n on n.id = p.namespace_id order by p.id`
  )

export interface CopiedRepositories {
  readonly units: readonly Unit[]
  /** Projects that were removed since the snapshot, with their repositories. */
  readonly removed: readonly number[]
  /** How many refs had moved since the snapshot and were set back. */
  readonly rewound: number
  readonly damaged: readonly DamagedFile[]
}

/** Copies the repositories of `projects`, except projects that have no repository yet. */
export async function copyRepositories(
  draft: Draft,
  projects: readonly ProjectToCopy[],
  known: KnownChanges,
  { signal, done }: { signal: AbortSignal; done: () => void }
): Promise<CopiedRepositories> {
  const units = new Map<number, Unit>()
  const removed: number[] = []
  const damaged: DamagedFile[] = []
  await mapBounded(projects, AT_ONCE, async project => {
    signal.throwIfAborted()
    const writer = new UnitWriter(draft, repositoryInHome(project))
    const copy = (original: Original) => copyOne(draft, { project, original, writer }, damaged)
    const unit = await withPatience(project, copy, signal).catch(error => {
      throw error instanceof OwnerAway ? new OwnerAway(whatIsMissing(project, projects, units)) : error
    })
    if (unit) units.set(project.id, unit)
    else if (!(await row('select 1 from projects where id = ?', [project.id]))) removed.push(project.id)
    done()
    // The preceding calls are synchronous: this lets the timers of the lease and the progress run.
    await new Promise(resolve => setImmediate(resolve))
  })
  const rewound = await rewindAll(draft, projects, known, units)
  return { units: [...units.values()], removed, rewound, damaged }
}

async function copyOne(
  draft: Draft,
  {
    project,
    original,
    writer
  }: { readonly project: ProjectToCopy; readonly original: Original; readonly writer: UnitWriter },
  damaged: DamagedFile[]
): Promise<Unit | null> {
  if (!(await original.isThere())) return null
  const branch = project.default_branch
  const head = branch !== null && isRefName(`refs/heads/${branch}`) ? branch : null
  if (await copyRepository(original, writer, head)) {
    const found = await damagedObjects(draft.folder, writer)
    damaged.push(...found)
    // Doctor reports the repository until it is repaired.
    if (found[0]) await noteFault(project.id, found[0].fault)
    return writer.finish({ id: project.id, path: project.path })
  }
  writer.abandon()
  return null
}

function whatIsMissing(
  { storage }: ProjectToCopy,
  projects: readonly ProjectToCopy[],
  units: ReadonlyMap<number, Unit>
): string {
  const missing = projects.filter(project => project.storage === storage && !units.has(project.id)).length
  return `the machine of the storage ${storage} does not answer, and ${missing} of its repositories are missing: start it, and try again`
}

async function rewindAll(
  draft: Draft,
  projects: readonly ProjectToCopy[],
  known: KnownChanges,
  units: Map<number, Unit>
): Promise<number> {
  let all = 0
  const news = await readNews(known)
  for (const project of projects) {
    const refs = news.get(project.id)
    const unit = units.get(project.id)
    if (!refs || !unit) continue
    const { text, moved } = await rewindRefs(join(draft.folder, unit.path), project, refs)
    if (moved === 0) continue
    const writer = UnitWriter.resume(draft, unit, readFileList(draft.folder, unit))
    writer.write(PACKED_REFS, text)
    units.set(project.id, writer.finish(unit.project))
    all += moved
  }
  return all
}

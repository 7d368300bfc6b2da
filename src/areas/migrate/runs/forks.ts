// Makes the projects that have come forks of each other, as they are at the source, and lets merge requests come from the forks. A fork
// and its source come in any order, so this happens at the end of each run. It changes nothing that somebody has set here.
import { nobody } from '../../../access/actor.js'
import { rows } from '../../../db/connect/sql.js'
import { Conflict } from '../../../errors.js'
import { takeSource } from '../../planning/merge-requests/versions/late-forks.js'
import { linkFork } from '../../projects/imports/forks.js'
import { findForkLink } from '../../projects/projects/fork-links.js'
import { findProject, type ProjectRow } from '../../projects/projects/projects.queries.js'
import type { Skipped, SourceProject } from '../sources/source.js'
import { findMigrated } from './project-here.js'
import type { Session } from './session.js'
import { readMergeRequests } from './spool.js'
import { partOf } from './work-folder.js'

/** Forks of forks. A source that shows more than this may show a circle. */
const DEEPEST = 100

/** Relates the projects that a run has read. */
export async function relateForks(
  session: Session,
  projects: AsyncIterable<SourceProject>,
  skipped: Skipped
): Promise<void> {
  for await (const project of projects) {
    session.signal.throwIfAborted()
    const here = await projectHere(session, project.id)
    if (!here) continue
    if (project.forkOf) await relate(here, await projectHere(session, project.forkOf), session, skipped)
    await takeSources(session, project, here)
  }
}

async function projectHere({ place }: Session, id: string): Promise<ProjectRow | undefined> {
  const known = await findMigrated(place, id)
  return known && findProject(String(known.project_id), nobody)
}

/** Makes a project a fork of another one. Reports why it cannot be one. */
async function relate(
  fork: ProjectRow,
  source: ProjectRow | undefined,
  { origin }: Session,
  skipped: Skipped
): Promise<void> {
  if (!source) return skipped('fork', 'the project of which it is a fork has not come')
  if (fork.visibility_level > source.visibility_level)
    return skipped('fork', 'more people see it than the project of which it is a fork')
  if (await comesFrom(source.id, fork.id)) return skipped('fork', 'the source shows a circle of forks')
  await linkFork(fork.id, source, origin).catch(error => {
    // It is a fork already, usually since an earlier run.
    if (!(error instanceof Conflict)) throw error
  })
}

/** Returns whether a project is `ancestor`, or a fork of it, or a fork of such a fork. */
async function comesFrom(id: number, ancestor: number): Promise<boolean> {
  let at: number | undefined = id
  for (let depth = 0; depth < DEEPEST; depth++) {
    if (at === ancestor) return true
    at = (await findForkLink(at))?.forked_from_project_id
    if (at === undefined) return false
  }
  return true
}

/** What other projects say of a project: its forks, and the merge requests that come from it, by the id of their target. */
interface Relations {
  readonly forks: readonly number[]
  readonly proposals: ReadonlyMap<number, readonly number[]>
}

/** Reads them, before the project is removed. */
export async function relationsOf(id: number): Promise<Relations> {
  const forks = await rows<{ id: number }>(
    'select forked_to_project_id as id from forked_project_links where forked_from_project_id = ?',
    [id]
  )
  const found = await rows<{ target: number; iid: number }>(
    'select target_project_id as target, iid from merge_requests where source_project_id = ? and target_project_id <> ?',
    [id, id]
  )
  const proposals = Map.groupBy(found, ({ target }) => target)
  return {
    forks: forks.map(({ id }) => id),
    proposals: new Map([...proposals].map(([target, some]) => [target, some.map(({ iid }) => iid)]))
  }
}

/** Gives them to the project that takes its place: a run of only this project reads no others. Call it inside `transact`. */
export async function takeRelations(
  session: Session,
  id: number,
  { forks, proposals }: Relations,
  skipped: Skipped
): Promise<void> {
  const source = await findProject(String(id), nobody)
  for (const forkId of forks) {
    const fork = await findProject(String(forkId), nobody)
    if (fork) await relate(fork, source, session, skipped)
  }
  for (const [target, iids] of proposals) await takeSource(target, iids, id)
}

async function takeSources(session: Session, { id }: SourceProject, target: ProjectRow): Promise<void> {
  const byFork = new Map<string, number[]>()
  for await (const { fork, iid } of readMergeRequests(partOf(session.migration, id))) {
    if (typeof fork !== 'string' || typeof iid !== 'number') continue
    const iids = byFork.get(fork) ?? []
    iids.push(iid)
    byFork.set(fork, iids)
  }
  for (const [fork, iids] of byFork) {
    const source = await findMigrated(session.place, fork)
    if (source) await takeSource(target.id, iids, source.project_id)
  }
}

// Runs a migration: one project after another. A project that fails is reported, and does not stop the others.
import { join } from 'node:path'
import { Failure } from '../../../errors.js'
import type { Skipped, Source, SourceProject } from '../sources/source.js'
import { relateForks } from './forks.js'
import { removeLeftovers } from './leftovers.js'
import { keepResult, type Migration } from './migrations.js'
import { type Moved, moveProject, refuseForeign } from './move-project.js'
import { checkSourcePath, type Namespaces, openNamespaces } from './namespaces.js'
import { type Assigned, assignConfirmed, listPlaceholders } from './placeholders.js'
import { Uncloneable } from './repository.js'
import { type Given, type Session, withSource } from './session.js'
import { newSkips, type Unreadable } from './skips.js'
import { wikiOf, wikiRecords } from './wikis.js'
import { writeJson } from './work-folder.js'

export interface RunOptions {
  /** Paths at the source; default: all projects that the token shows. */
  readonly projects: readonly string[]
  readonly overwrite: boolean
}

export interface Failed {
  readonly from: string
  readonly result: 'failed'
  readonly error: string
}

export interface Report {
  readonly migration: string
  readonly source: string
  readonly started_at: string
  readonly ended_at: string
  readonly projects: readonly (Moved | Failed)[]
  /** What could not be read, such as a project or a member of a group. */
  readonly unreadable: ReturnType<Unreadable['list']>
  readonly skipped: ReturnType<ReturnType<typeof newSkips>['list']>
  /** The first thousand placeholders of this source. */
  readonly placeholders: readonly string[]
  /** Placeholders whose person has confirmed the address, but could not get the records. */
  readonly unassigned: Assigned['refused']
  /** The file with this report. */
  readonly file: string
}

/** Whether something did not come that should have. */
export const isPartial = ({ projects, unreadable }: Report): boolean =>
  unreadable.length > 0 || projects.some(({ result }) => result === 'failed')

/** Runs a migration. Throws AlreadyRunning, ReadElsewhere, and SourceFailure when the source cannot be read at all. */
export const runMigration = (migration: Migration, options: RunOptions, given: Given): Promise<Report> =>
  withSource(migration, given, async (session, { source, end }) => {
    const { origin, signal } = session
    const started_at = new Date().toISOString()
    const skips = newSkips()
    const projects: (Moved | Failed)[] = []
    const namespaces = await openNamespaces(session, source, skips.skipped)
    const running = { session, source, namespaces, options, skipped: skips.skipped }
    try {
      for await (const moved of movedProjects(running)) projects.push(moved)
      await relateForks(session, projectsOf(session, source, options.projects), skips.skipped)
    } finally {
      // When the run is ended from outside, another one continues with what there is.
      if (!signal.aborted) await removeLeftovers(session, namespaces.brought())
    }
    await end()
    const { refused: unassigned } = await assignConfirmed(origin, signal, migration)
    const report: Report = {
      migration: migration.name,
      source: migration.url,
      started_at,
      ended_at: new Date().toISOString(),
      projects,
      unreadable: session.unreadable.list(),
      skipped: skips.list(),
      placeholders: (await listPlaceholders(migration)).map(({ username }) => username),
      unassigned,
      file: join(migration.folder, 'report.json')
    }
    await writeJson(report.file, report)
    return keepResult(migration, 'run', report)
  })

interface Running {
  readonly session: Session
  readonly source: Source
  readonly namespaces: Namespaces
  readonly options: RunOptions
  readonly skipped: Skipped
}

/** Moves each project, and then its wiki. */
async function* movedProjects(running: Running): AsyncGenerator<Moved | Failed> {
  const { session, source, namespaces, options, skipped } = running
  const { signal } = session
  for await (const project of projectsOf(session, source, options.projects)) {
    signal.throwIfAborted()
    const place = async () => {
      checkSourcePath(project.path)
      if (!options.overwrite) await refuseForeign(session, project)
      return { ...(await namespaces.of(project)), overwrite: options.overwrite, pathOf: namespaces.pathOf }
    }
    const moved = await place()
      .then(to => moveProject(session, project, to))
      .catch(failureOf(project, signal))
    yield moved
    const wiki = moved.result === 'failed' ? null : await wikiOf(source, project)
    if (!wiki) continue
    const records = wikiRecords(session, project)
    const done = await place()
      .then(to => moveProject(session, wiki, { ...to, records }))
      .catch(withoutWiki(skipped))
      .catch(failureOf(wiki, signal))
    if (done) yield done
  }
}

/** Forges say only that a project may have a wiki. Without pages, there is nothing to clone. Other failures are those of the wiki. */
const withoutWiki = (skipped: Skipped) => (error: unknown) => {
  if (!(error instanceof Uncloneable) || !ABSENT.test(error.problem)) throw error
  skipped('wikis', 'they have no pages, or the token does not show them')
  return null
}

const ABSENT = /^is empty$|not found|error: 40[134]|Authentication failed|could not read Username/

export const failureOf =
  ({ path }: SourceProject, signal: AbortSignal) =>
  (error: unknown): Failed => {
    signal.throwIfAborted()
    if (!(error instanceof Failure)) throw error
    return { from: path, result: 'failed', error: error.message.slice(0, 1000) }
  }

/** Reads these projects, or all. */
export async function* projectsOf(
  { unreadable }: Session,
  source: Source,
  paths: readonly string[]
): AsyncGenerator<SourceProject> {
  for (const path of paths) yield await source.project(path)
  if (paths.length === 0) yield* source.projects(unreadable.skipped)
}

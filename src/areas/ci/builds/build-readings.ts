// Reads builds for the API, with their commits, traces and artifacts.
import type { Actor } from '../../../access/actor.js'
import type { Page } from '../../../db/lists/paginate.js'
import { NotFound, NothingThere, RangeNotSatisfiable } from '../../../errors.js'
import { type Commit, readCommit } from '../../../git/history/commits.js'
import { GitFailure } from '../../../git/process/run.js'
import { resolveCommit } from '../../../git/refs/refs.js'
import { byteRange, type ChooseRange } from '../../../lib/byte-range.js'
import { log } from '../../../log.js'
import { openTrace } from '../../../storage/traces.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { archiveNameOf, hasArtifacts, openArtifactsOf, sendDirectly } from './artifacts.js'
import {
  type BuildRow,
  findBuild,
  findBuilds,
  findSuccessfulBuild,
  listBuilds,
  listProofs,
  type ProvenBuild
} from './builds.queries.js'
import type { BuildListQuery } from './builds.schema.js'
import type { BuildReading } from './builds.view.js'
import { mayDownload } from './files/artifact-access.js'

/** Returns what proves a page of builds; with `sha`, only builds of that commit. Throws NotFound when the commit does not exist. */
export async function pageOfProofs(
  project: ProjectRow,
  query: BuildListQuery,
  sha?: string
): Promise<Page<ProvenBuild>> {
  const commit = sha === undefined ? undefined : await resolveCommit(repositoryPath(project), sha)
  if (commit === null) throw new NotFound('Commit')
  return listProofs(project.id, query, commit?.id)
}

/** Returns a page of builds with their commits. */
export async function readBuilds(project: ProjectRow, query: BuildListQuery): Promise<Page<BuildReading>> {
  const page = await listBuilds(project.id, query)
  return { ...page, items: await withCommits(project, page.items) }
}

/** Returns a build with its commit. Throws NothingThere when the project has no build with this id. */
export async function readBuild(project: ProjectRow, id: number): Promise<BuildReading> {
  return withCommit(repositoryPath(project), await mustFindBuild(project, id))
}

/** Returns builds of a project with their commits, by their ids. */
export async function readBuildsById(
  project: ProjectRow,
  ids: readonly number[]
): Promise<ReadonlyMap<number, BuildReading>> {
  const found = await readProvenBuilds(project, ids)
  return new Map(found.map(reading => [reading.build.id, reading]))
}

/** Returns builds of a project with their commits and what proves them, in any order. */
export const readProvenBuilds = async (project: ProjectRow, ids: readonly number[]) =>
  withCommits(project, await findBuilds(project.id, ids))

/** The headers of a request for a file. */
export interface PartRequest {
  readonly range?: string
  readonly 'if-range'?: string
}

/** A request for an archive, with its actor. */
export interface ArchiveRequest extends PartRequest {
  readonly actor: Actor
  /** The client may download the archive from the bucket. */
  readonly direct?: boolean
}

/** Opens the current trace of a build, or a part. Throws NothingThere when the build or its trace does not exist. */
export async function readTraceOf(project: ProjectRow, id: number, request: PartRequest) {
  const build = await mustFindBuild(project, id)
  const key = { build: build.id, attempt: build.attempt }
  const trace = build.erased_at ? undefined : await openTrace(key, chooser(request))
  if (!trace) throw new NothingThere()
  return trace
}

/** Opens the archive of a build, or a part. Throws FoundElsewhere, and NothingThere when the build or its archive does not exist. */
export async function readArtifactsOf(project: ProjectRow, id: number, request: ArchiveRequest) {
  return archiveOf(project, await mustFindBuild(project, id), request)
}

/**
 * Opens the archive of the build `name` in the newest successful pipeline of a ref. Throws NothingThere when the build
 * or its archive does not exist.
 */
export async function readArtifactsOfRef(
  project: ProjectRow,
  { ref, name }: { readonly ref: string; readonly name: string },
  request: ArchiveRequest
) {
  return archiveOf(project, await findSuccessfulBuild(project.id, ref, name), request)
}

/** Finds a build of a project. Throws NothingThere. */
export async function mustFindBuild(project: Pick<ProjectRow, 'id'>, id: number): Promise<BuildRow> {
  const build = await findBuild(project.id, id)
  if (!build) throw new NothingThere()
  return build
}

/** Finds a build with an archive that the actor may read. Throws NothingThere. */
export async function mustFindArchived(project: ProjectRow, id: number, actor: Actor): Promise<BuildRow> {
  const build = await mustFindBuild(project, id)
  if (!hasArtifacts(build) || !(await mayDownload(project, id, actor))) throw new NothingThere()
  return build
}

/** The CI file may deny the archive to some readers of the build: for them it does not exist. */
async function archiveOf(project: ProjectRow, build: BuildRow | undefined, request: ArchiveRequest) {
  if (build && !(await mayDownload(project, build.id, request.actor))) throw new NothingThere()
  if (build && request.direct) await sendDirectly(build)
  const hash = build?.artifacts_sha256
  const etag = hash ? `"${hash.toString('hex')}"` : undefined
  const archive = build && (await openArtifactsOf(build, chooser(request, etag)))
  if (!archive) throw new NothingThere()
  return { ...archive, filename: archiveNameOf(build), etag }
}

/** With If-Range, a client accepts only a part of the file that it has begun to download. Throws RangeNotSatisfiable. */
function chooser({ range, 'if-range': known }: PartRequest, etag?: string): ChooseRange {
  return size => {
    if (known !== undefined && known !== etag) return undefined
    const found = byteRange(range, size)
    if (found === null) throw new RangeNotSatisfiable(size)
    return found
  }
}

const withCommit = async <Row extends BuildRow>(repository: string, build: Row) => ({
  build,
  commit: await readCommit(repository, build.sha).catch(error => unreadable(build, error))
})

const withCommits = <Row extends BuildRow>(project: ProjectRow, builds: readonly Row[]) =>
  Promise.all(builds.map(build => withCommit(repositoryPath(project), build)))

/** A commit that git cannot read must not hide the other builds. */
function unreadable({ id, sha }: BuildRow, error: unknown): Commit | null {
  if (!(error instanceof GitFailure)) throw error
  log().error({ error, build: id, sha }, 'the commit of a build cannot be read')
  return null
}

// Reads builds for the API, with their commits, traces and artifacts.

import type { Page } from '../../db/paginate.js'
import { NotFound, NothingThere } from '../../errors.js'
import { type Commit, readCommit } from '../../git/commits.js'
import { resolveCommit } from '../../git/refs.js'
import { GitFailure } from '../../git/run.js'
import { log } from '../../log.js'
import { openTrace } from '../../storage/traces.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { repositoryPath } from '../projects/repositories.js'
import { openArtifactsOf } from './artifacts.js'
import { type BuildRow, findBuild, findBuilds, findSuccessfulBuild, listBuilds } from './builds.queries.js'
import type { BuildListQuery } from './builds.schema.js'
import type { BuildReading } from './builds.view.js'

/** Returns a page of builds; with `sha`, only builds of that commit. Throws NotFound when the commit does not exist. */
export async function readBuilds(
  project: ProjectRow,
  query: BuildListQuery,
  sha?: string
): Promise<Page<BuildReading>> {
  const repository = repositoryPath(project)
  const commit = sha === undefined ? undefined : await resolveCommit(repository, sha)
  if (commit === null) throw new NotFound('Commit')
  const page = await listBuilds(project.id, query, commit?.id)
  return { ...page, items: await Promise.all(page.items.map(build => withCommit(repository, build))) }
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
  const found = await findBuilds(project.id, ids)
  const repository = repositoryPath(project)
  return new Map(await Promise.all(found.map(async build => [build.id, await withCommit(repository, build)] as const)))
}

/** Opens the current trace of a build. Throws NothingThere when the build or its trace does not exist. */
export async function readTraceOf(project: ProjectRow, id: number) {
  const build = await mustFindBuild(project, id)
  const trace = build.erased_at ? undefined : await openTrace({ build: build.id, attempt: build.attempt })
  if (!trace) throw new NothingThere()
  return trace
}

/** Opens the archive of a build. Throws NothingThere when the build or its archive does not exist. */
export async function readArtifactsOf(project: ProjectRow, id: number) {
  return archiveOf(await mustFindBuild(project, id))
}

/**
 * Opens the archive of the build `name` in the newest successful pipeline of a ref. Throws NothingThere when the build
 * or its archive does not exist.
 */
export async function readArtifactsOfRef(project: ProjectRow, ref: string, name: string) {
  return archiveOf(await findSuccessfulBuild(project.id, ref, name))
}

/** Finds a build of a project. Throws NothingThere. */
export async function mustFindBuild(project: Pick<ProjectRow, 'id'>, id: number): Promise<BuildRow> {
  const build = await findBuild(project.id, id)
  if (!build) throw new NothingThere()
  return build
}

async function archiveOf(build: BuildRow | undefined) {
  const archive = build && (await openArtifactsOf(build))
  if (!archive) throw new NothingThere()
  return { ...archive, filename: build.artifacts_filename ?? 'artifacts.zip' }
}

const withCommit = async (repository: string, build: BuildRow): Promise<BuildReading> => ({
  build,
  commit: await readCommit(repository, build.sha).catch(error => unreadable(build, error))
})

/** One commit that git cannot read must not hide the builds of the others. */
function unreadable({ id, sha }: BuildRow, error: unknown): Commit | null {
  if (!(error instanceof GitFailure)) throw error
  log().error({ error, build: id, sha }, 'the commit of a build cannot be read')
  return null
}

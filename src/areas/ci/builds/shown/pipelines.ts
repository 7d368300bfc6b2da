// Pipelines with what else their readers may see: fewer people may read builds and commits than pipelines.
import type { Actor } from '../../../../access/actor.js'
import { may } from '../../../../access/authorize.js'
import type { Page, PageRequest } from '../../../../db/lists/paginate.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import {
  listPipelines,
  type PipelineRow,
  type PipelineScope,
  requirePipeline
} from '../../pipelines/pipelines.queries.js'
import { type CommitStatusRow, listExternalStatuses } from '../../pipelines/statuses/commit-statuses.queries.js'
import { buildsOfPipeline, type NamedBuildRow } from '../builds.queries.js'
import { type ShownStage, stagesOf } from './stages.js'
import { titlesOf } from './titles.js'

type Titles = ReadonlyMap<string, string>

export interface ShownPipeline {
  readonly pipeline: PipelineRow
  readonly stages: readonly ShownStage<NamedBuildRow>[]
  readonly statuses: readonly CommitStatusRow[]
  readonly titles: Titles
  /** The actor may not read the builds. */
  readonly hidesBuilds: boolean
}

/** Returns a pipeline with its builds. Throws NotFound. */
export async function readShownPipeline(project: ProjectRow, id: number, actor: Actor): Promise<ShownPipeline> {
  const pipeline = await requirePipeline(project.id, id)
  const readsBuilds = may(actor, 'build.read', project)
  const [builds, statuses, titles] = await Promise.all([
    readsBuilds ? buildsOfPipeline(id) : [],
    readsCommits(project, actor) ? listExternalStatuses(id) : [],
    titlesFor(project, [pipeline], actor)
  ])
  return { pipeline, stages: stagesOf(builds), statuses, titles, hidesBuilds: !readsBuilds }
}

/** Returns a page of pipelines with the titles of their commits. */
export async function listShownPipelines(
  project: ProjectRow,
  query: PageRequest & { scope?: PipelineScope },
  actor: Actor
): Promise<Page<PipelineRow> & { readonly titles: Titles }> {
  const page = await listPipelines(project.id, query)
  return { ...page, titles: await titlesFor(project, page.items, actor) }
}

const readsCommits = (project: ProjectRow, actor: Actor) => Boolean(actor.user) && may(actor, 'commit.read', project)

/** Records of builds contain the commit, so their readers may see it, too. */
const titlesFor = async (project: ProjectRow, pipelines: readonly PipelineRow[], actor: Actor): Promise<Titles> =>
  readsCommits(project, actor) || may(actor, 'build.read', project)
    ? titlesOf(
        project,
        pipelines.map(({ sha }) => sha)
      )
    : new Map()

// What stands at the top of all pages of a merge request.
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../../access/actor.js'
import { canSee, levelIn, may } from '../../../access/authorize.js'
import { findLabels } from '../../../areas/planning/labels/labels.queries.js'
import {
  type MergeRequestRow,
  requireShownByNumber
} from '../../../areas/planning/merge-requests/merge-requests.queries.js'
import { viewMergeRequest } from '../../../areas/planning/merge-requests/merge-requests.view.js'
import { readMergeRequest } from '../../../areas/planning/merge-requests/readings.js'
import { isOpen } from '../../../areas/planning/merge-requests/rules.js'
import { mayUpdateMergeRequest } from '../../../areas/planning/merge-requests/update.js'
import { countCommits } from '../../../areas/planning/merge-requests/versions/changes.js'
import {
  latestVersion,
  listVersions,
  type VersionRow
} from '../../../areas/planning/merge-requests/versions/versions.queries.js'
import { findProject, type ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import { DEVELOPER } from '../../../lib/levels.js'
import { Type } from '../../../lib/type.js'
import { keptReading } from '../../plugins/kept-readings.js'
import { inPath, path } from '../components.js'
import { projectPath } from '../place.js'

export const Numbered = Type.Object({ iid: Type.Integer() })

export type Asked = Pick<FastifyRequest, 'project' | 'actor' | 'query' | 'method' | 'url'> & {
  readonly params: { readonly iid: number }
}

export const mergeRequestPath = (project: Pick<ProjectRow, 'namespace_path' | 'path'>, iid: number): string =>
  projectPath(project) + path('merge_requests', iid)

/** What the visitor may do with a merge request. */
export const rightsOn = (project: ProjectRow, found: MergeRequestRow, actor: Actor) => {
  const update = mayUpdateMergeRequest(actor, project, found)
  return {
    update,
    plan: update && levelIn(project, actor) >= DEVELOPER,
    // An open one is closed, a closed one is reopened, and a merged one stays.
    command: !update || found.state === 'merged' ? null : isOpen(found) ? ('close' as const) : ('reopen' as const)
  }
}

export interface Head {
  readonly title: string
  readonly found: MergeRequestRow
  /** The project of the source branch; undefined when it no longer exists, or the visitor may not see it. */
  readonly source: ProjectRow | undefined
  readonly version: VersionRow | undefined
  /** All versions, newest first, for the page that lists them. */
  readonly versions: readonly VersionRow[]
  readonly base: string
  readonly [name: string]: unknown
}

/** Reads what only one tab shows of a merge request. */
type MoreOf<More> = (found: MergeRequestRow) => Promise<More>

/** Reads a merge request, and what its tab shows of the project: the version proves it. Throws NotFound. */
async function readRecords<More>({ project, actor, params }: Asked, tab: string, readMore: MoreOf<More>) {
  const found = await requireShownByNumber(project.id, params.iid, actor)
  const [reading, versions, more] = await Promise.all([
    readMergeRequest(found, actor),
    tab === 'diffs' ? listVersions(found.id) : latestVersion(found.id).then(latest => (latest ? [latest] : [])),
    readMore(found)
  ])
  const labels = await findLabels(project, reading.labels)
  return {
    ...{ found, reading, versions, more },
    labels: reading.labels.map(title => labels.get(title) ?? { title, color: null })
  }
}

/** Reads the head of the page of a merge request, and more for its tab, which may be kept with it. Throws NotFound. */
export async function readHead<More extends object>(
  request: Asked,
  tab: string,
  readMore: MoreOf<More> = async () => ({}) as More
): Promise<Head & { readonly more: More }> {
  const { project, actor } = request
  const read = await keptReading(request, () => readRecords(request, tab, readMore))
  const { found, reading, versions, more, labels } = read
  const [version] = versions
  const [source, commits] = await Promise.all([sourceOf(project, found, actor), countCommits(project, version)])
  return {
    title: `${found.title} (!${found.iid})`,
    tab,
    found,
    mergeRequest: viewMergeRequest(reading),
    labels,
    source,
    sourceName: source && source.id !== project.id ? `${source.namespace_path}/${source.path}` : null,
    sourcePage: source && may(actor, 'file.read', source) ? treePath(source, found.source_branch) : null,
    targetPage: may(actor, 'file.read', project) ? treePath(project, found.target_branch) : null,
    version,
    versions,
    more,
    commits,
    files: version?.real_size ?? '0',
    rights: rightsOn(project, found, actor),
    base: mergeRequestPath(project, found.iid),
    projectPath: projectPath(project)
  }
}

const treePath = (project: ProjectRow, branch: string) => `${projectPath(project)}/tree/${inPath(branch)}`

async function sourceOf(project: ProjectRow, found: MergeRequestRow, actor: Actor): Promise<ProjectRow | undefined> {
  if (found.source_project_id === project.id) return project
  const source = await findProject(found.source_project_id, actor)
  return source && canSee(source, actor) ? source : undefined
}

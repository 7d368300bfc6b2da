// What the tabs of a merge request show.
import { may } from '../../../access/authorize.js'
import { pipelinesBefore } from '../../../areas/ci/pipelines/pipelines.queries.js'
import { viewCommitItem } from '../../../areas/code/repository/repository.view.js'
import { findUser } from '../../../areas/people/users/users.queries.js'
import { versionOfNote } from '../../../areas/planning/discussion/line-notes.js'
import { readMergeState } from '../../../areas/planning/merge-requests/accept/accept.js'
import { messageOf } from '../../../areas/planning/merge-requests/accept/merge-message.js'
import { issuesClosedBy } from '../../../areas/planning/merge-requests/closing.js'
import type { MergeRequestRow } from '../../../areas/planning/merge-requests/merge-requests.queries.js'
import { isOpen } from '../../../areas/planning/merge-requests/rules.js'
import { readCommits, readPatches } from '../../../areas/planning/merge-requests/versions/changes.js'
import { listVersions } from '../../../areas/planning/merge-requests/versions/versions.queries.js'
import { listParticipants } from '../../../areas/planning/participation/participants.queries.js'
import { viewTimeStats } from '../../../areas/planning/participation/time-tracking.view.js'
import type { ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import { hasTodoOn } from '../../../areas/reach/todos/todos.js'
import { type PageRequest, window } from '../../../db/lists/paginate.js'
import { readStates } from '../code/commit-states.js'
import { projectPath } from '../place.js'
import { readStream, type ShownNote, showDiscussion } from '../planning/discussion.js'
import { excerptsIn } from '../planning/excerpts.js'
import { type Asked, type Head, readHead, rightsOn } from './head.js'

/** Reads the first tab. `filled` is what the visitor wrote into the form that merges, if it was refused. */
export async function readOverview(request: Asked, filled: object = {}) {
  const { project, actor } = request
  const head = await readHead(request, 'discussion', found => readNoted(request, found))
  const { found, more } = head
  const target = { type: 'MergeRequest', id: found.id, projectId: project.id } as const
  const [merge, discussion, todo] = await Promise.all([
    readMerge(request, head),
    showDiscussion(request, noteableOf(found), more.stream, {
      description: found.description,
      command: rightsOn(project, found, actor).command,
      linePage: id => `${head.base}/diffs/notes/${id}`
    }),
    actor.user === null ? false : hasTodoOn(target, actor.user.id)
  ])
  const excerpts = await readExcerpts(project, found, discussion.notes)
  return {
    ...{ ...head, merge, participants: more.participants, todo, time: viewTimeStats(found), filled },
    discussion: { ...discussion, excerpts }
  }
}

const noteableOf = ({ id, author_id: authorId }: MergeRequestRow) =>
  ({ type: 'MergeRequest', id, authorId, confidential: false }) as const

async function readNoted(request: Asked, found: MergeRequestRow) {
  const [stream, participants] = await Promise.all([
    readStream(request, noteableOf(found)),
    listParticipants({ type: 'MergeRequest', id: found.id }, found.author_id)
  ])
  return { stream, participants }
}

/** How many versions are read for the lines of the notes of one page: the newest ones. */
const MOST_VERSIONS = 5

/** Reads the lines that notes are about, each from the version to which the note belongs. */
async function readExcerpts(project: ProjectRow, { id }: Pick<MergeRequestRow, 'id'>, notes: readonly ShownNote[]) {
  const placed = notes.filter(({ line }) => line !== null)
  if (placed.length === 0) return new Map<number, string>()
  const versions = await listVersions(id)
  const byVersion = Map.groupBy(placed, ({ createdAt }) => versionOfNote({ created_at: createdAt }, versions))
  const read = versions.filter(version => byVersion.has(version)).slice(0, MOST_VERSIONS)
  const found = await Promise.all(
    read.map(async version => excerptsIn((await readPatches(project, version)).patches, byVersion.get(version) ?? []))
  )
  return new Map(found.flatMap(some => [...some]))
}

/** What the box about the merge shows. */
async function readMerge({ project, actor }: Asked, { found, source, version }: Head) {
  const [state, closes, by] = await Promise.all([
    isOpen(found) ? readMergeState(project, found, source, actor) : undefined,
    issuesClosedBy(project, found, actor, version),
    found.merge_user_id === null ? undefined : findUser(found.merge_user_id)
  ])
  const seesPipeline = source !== undefined && may(actor, 'pipeline.read', source)
  return {
    ...state,
    members: may(actor, 'member.read', project) ? `${projectPath(project)}/project_members` : null,
    // The box changes soon.
    isLive: state !== undefined && (state.canWait || state.obstacle === 'unchecked'),
    canMerge: state?.obstacle === null || state?.obstacle === 'unchecked',
    canWait:
      state?.canWait && (state.obstacle === null || state.obstacle === 'unchecked' || state.obstacle === 'pipeline'),
    pipeline: seesPipeline ? state?.pipeline : undefined,
    closes,
    by,
    message: messageOf(found, closes)
  }
}

/** Commits on one page. */
const COMMITS = 50

export async function readCommitsTab(request: Asked) {
  const head = await readHead(request, 'commits')
  const { commits, isCut } = await readCommits(request.project, head.version)
  const { page, perPage } = window({ ...(request.query as PageRequest), per_page: COMMITS })
  const items = commits.slice((page - 1) * perPage, page * perPage).map(viewCommitItem)
  const ids = items.map(({ id }) => id)
  // The pipelines of the commits belong to the project of the source branch.
  const stateOf = await readStates(head.source, request.actor, ids)
  return { ...head, list: { items, total: commits.length, page, perPage }, stateOf, isCut }
}

/** The pipelines of the branch that are shown. */
const PIPELINES = 20

export async function readPipelinesTab(request: Asked) {
  const head = await readHead(request, 'pipelines')
  const { source, found } = head
  const seen = source && may(request.actor, 'pipeline.read', source) ? source : undefined
  const pipelines = seen
    ? await pipelinesBefore({ projectId: seen.id, ref: found.source_branch }, undefined, PIPELINES)
    : []
  return { ...head, pipelines: pipelines.filter(({ tag }) => tag === 0), seen: seen !== undefined }
}

// Commits and merge requests close issues with their texts, when they reach the default branch of their project.
import { type Actor, actorOf } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { readClosedIssues } from '../../../text/reading.js'
import { keyOf, type Reference } from '../../../text/references.js'
import { pushedMessages, readableMessages } from '../../code/refs/pushed-commits.js'
import type { ChangeRow } from '../../code/refs/ref-changes.queries.js'
import { findSudoUser } from '../../people/credentials/credentials.js'
import { findProject, findProjects, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { closeIssue, mayUpdateIssue } from '../issues/issues.js'
import { canSeeIssue, findIssuesByNumbers, type IssueRow } from '../issues/issues.queries.js'
import type { MergeRequestRow } from './merge-requests.queries.js'
import { readCommits } from './versions/changes.js'
import { latestVersion, type VersionRow } from './versions/versions.queries.js'

/** The maximum number of issues that one merge request or push closes. Not specified: a limit. */
const MOST_ISSUES = 100

/**
 * Returns the issues that a merge request closes when it is merged, if the actor may see them. Decided: none when its
 * target is not the default branch. `version` is its newest version, if the caller has read it.
 */
export async function issuesClosedBy(
  project: ProjectRow,
  found: MergeRequestRow,
  actor: Actor,
  version?: VersionRow
): Promise<readonly IssueRow[]> {
  if (found.target_branch !== project.default_branch) return []
  const references = await readReferences(project, found, version ?? (await latestVersion(found.id)))
  return (await findIssues(project, references, actor)).map(({ issue }) => issue)
}

/** Closes the issues of a merged merge request in the name of the user who merged it, if this user may. */
export async function closeIssuesOf(found: MergeRequestRow, userId: number | null): Promise<void> {
  const actor = await actorBy(userId)
  const project = actor && (await findProject(found.target_project_id, actor))
  if (!actor || !project || found.target_branch !== project.default_branch) return
  await closeAll(project, await readReferences(project, found, await latestVersion(found.id)), actor)
}

/** Reads as much of the messages as of a push. */
async function readReferences(
  project: ProjectRow,
  found: MergeRequestRow,
  version: VersionRow | undefined
): Promise<Reference[]> {
  const { commits } = await readCommits(project, version)
  return readClosedIssues([found.description ?? '', ...readableMessages(commits).map(({ message }) => message)])
}

/** Closes the issues that pushed commits name, when the commits reach the default branch. */
export async function closeIssuesOfPush(change: ChangeRow): Promise<void> {
  const { default_branch: branch, user_id: userId } = change
  if (branch === null || change.ref !== `refs/heads/${branch}`) return
  const references = await readClosedIssues((await pushedMessages(change)).map(({ message }) => message))
  const actor = references.length > 0 ? await actorBy(userId) : undefined
  const project = actor && (await findProject(change.project_id, actor))
  if (actor && project) await closeAll(project, references, actor)
}

async function actorBy(userId: number | null): Promise<Actor | undefined> {
  const user = userId === null ? undefined : await findSudoUser(String(userId))
  return user && actorOf(user, 'private')
}

async function closeAll(project: ProjectRow, references: readonly Reference[], actor: Actor): Promise<void> {
  const by = actor.user?.id
  if (by === undefined) return
  for (const { issue, project: where } of await findIssues(project, references, actor)) {
    if (!where.archived && mayUpdateIssue(actor, where, issue)) await closeIssue(issue.id, by)
  }
}

interface FoundIssue {
  readonly issue: IssueRow
  readonly project: ProjectRow
}

/** Returns the issues to which texts of a project refer, in their order, if the actor may see them. */
async function findIssues(project: ProjectRow, references: readonly Reference[], actor: Actor): Promise<FoundIssue[]> {
  const wanted = new Map<string, Reference>()
  for (const reference of references) if (wanted.size < MOST_ISSUES) wanted.set(keyOf(reference), reference)
  const projects = await projectsOf([...wanted.values()], project, actor)
  const asked = [...wanted.values()].flatMap(({ project: path, name }) => {
    const where = projects.get(path)
    return where && may(actor, 'issue.read', where) ? [{ where, projectId: where.id, iid: Number(name) }] : []
  })
  const issues = new Map((await findIssuesByNumbers(asked)).map(issue => [`${issue.project_id} ${issue.iid}`, issue]))
  const found = new Map<number, FoundIssue>()
  for (const { where, projectId, iid } of asked) {
    const issue = issues.get(`${projectId} ${iid}`)
    if (issue && canSeeIssue(issue, where, actor)) found.set(issue.id, { issue, project: where })
  }
  return [...found.values()]
}

/** Returns the projects of references by their paths, with one statement unless some have moved; null stands for the project of the texts. */
async function projectsOf(references: readonly Reference[], project: ProjectRow, actor: Actor) {
  const paths = [...new Set(references.flatMap(({ project: path }) => (path === null ? [] : [path])))]
  const found = new Map(
    (await findProjects(paths, actor)).map(one => [`${one.namespace_path}/${one.path}`.toLowerCase(), one])
  )
  const projects = new Map<string | null, ProjectRow | undefined>([[null, project]])
  for (const path of paths) projects.set(path, found.get(path.toLowerCase()) ?? (await findProject(path, actor)))
  return projects
}

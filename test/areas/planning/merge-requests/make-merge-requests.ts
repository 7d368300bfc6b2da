// Creates merge requests for tests: with branches, or as bare rows.
import { acceptMergeRequest } from '../../../../src/areas/planning/merge-requests/accept/accept.js'
import { createMergeRequest } from '../../../../src/areas/planning/merge-requests/merge-requests.js'
import type { MergeRequestRow } from '../../../../src/areas/planning/merge-requests/merge-requests.queries.js'
import type {
  AcceptBody,
  MergeRequestBody
} from '../../../../src/areas/planning/merge-requests/merge-requests.schema.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { actorOf, factory, originBy, projectRow, type TestProject, type TestUser } from '../../../helpers/factory.js'

/** Creates a project whose branch `feature` has one file more than `master`. */
export async function makeProject(values: Parameters<typeof factory.project>[0] = {}): Promise<TestProject> {
  const project = await factory.project(values)
  await factory.file(project, 'README', 'read me\n')
  await makeBranch(project, 'feature')
  return project
}

/** Creates a branch of `master` with a file named after it. */
export async function makeBranch(project: TestProject, name: string, content = `${name}\n`): Promise<void> {
  await factory.branch(project, name)
  await factory.file(project, `${name}.txt`, content, name)
}

/** Creates a merge request from `feature` into `master`, in the name of the owner. */
export async function makeMergeRequest(
  project: TestProject,
  body: Partial<MergeRequestBody> = {}
): Promise<MergeRequestRow> {
  const all = { source_branch: 'feature', target_branch: 'master', title: 'Add a feature', ...body }
  return createMergeRequest(await projectRow(project), all, actorOf(project.owner), originBy(project.owner))
}

/** Merges in the name of the owner of the project. */
export const accept = async (project: TestProject, id: number, body: AcceptBody = {}): Promise<MergeRequestRow> =>
  acceptMergeRequest(await projectRow(project), id, body, actorOf(project.owner), originBy(project.owner))

let numbers = 1000

/** Inserts the row of a merge request, without branches, and of one version. Returns their ids. */
export async function insertRow(
  project: { readonly id: number },
  author: Pick<TestUser, 'id'>,
  state = 'opened'
): Promise<{ readonly id: number; readonly versionId: number }> {
  const number = ++numbers
  const now = new Date()
  const { insertId: id } = await execute(
    `insert into merge_requests (iid, target_project_id, source_project_id, target_branch, source_branch, title, state,
       author_id, created_at, updated_at) values (?, ?, ?, 'master', ?, ?, ?, ?, ?, ?)`,
    [number, project.id, project.id, `branch-${number}`, `Number ${number}`, state, author.id, now, now]
  )
  const { insertId: versionId } = await execute(
    `insert into merge_request_versions (merge_request_id, head_sha, state, real_size, created_at)
     values (?, repeat('a', 40), 'empty', '0', ?)`,
    [id, now]
  )
  return { id, versionId }
}

/** Inserts the row of a milestone. Returns its id. */
export async function insertMilestone(project: { readonly id: number }): Promise<number> {
  const number = ++numbers
  const { insertId } = await execute(
    'insert into milestones (project_id, iid, title, created_at, updated_at) values (?, ?, ?, now(), now())',
    [project.id, number, `Milestone ${number}`]
  )
  return insertId
}

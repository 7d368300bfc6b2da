// Merges: their effects, the order of the checks, and that each merge has either all of its effects or none.

import { createBranch } from '../../../../src/areas/code/refs/branches.js'
import { moveRefs } from '../../../../src/areas/code/refs/move-refs.js'
import { settleMerge } from '../../../../src/areas/planning/merge-requests/accept/finish.js'
import { mergeBranches } from '../../../../src/areas/planning/merge-requests/accept/merge-commit.js'
import { applyBranchMove } from '../../../../src/areas/planning/merge-requests/branch-moves.js'
import { findMergeRequest } from '../../../../src/areas/planning/merge-requests/merge-requests.queries.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { isAncestor } from '../../../../src/git/history/commits.js'
import { readCommit } from '../../../../src/git/objects/objects.js'
import { refValue } from '../../../../src/git/refs/refs.js'
import { DEVELOPER, MASTER, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { originBy, projectRow, type TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { accept, makeBranch, makeMergeRequest, makeProject } from './make-merge-requests.js'

const app = await testApp(t)

async function subject() {
  const project = await makeProject()
  const repository = repositoryPath(await projectRow(project))
  const path = `/projects/${project.id}/merge_requests`
  const tip = (branch = 'master') => refValue(repository, `refs/heads/${branch}`)
  return { project, repository, owner: app.as(project.owner), path, tip }
}

const happened = async (project: TestProject) =>
  (
    await rows<{ action: string; target_type: string | null }>(
      'select action, target_type from activity_events where project_id = ? order by id',
      [project.id]
    )
  ).filter(({ target_type }) => target_type === 'MergeRequest')

t.test('a merge creates a commit with two parents, and deletes the branch on request', async t => {
  const { project, repository, owner, path, tip } = await subject()
  const { id, head_sha: head } = await makeMergeRequest(project)
  const before = await tip()
  const res = await owner.put(`${path}/${id}/merge`, { should_remove_source_branch: true, sha: head })
  t.equal(res.statusCode, 200)
  const { merge_commit_sha: merged } = res.json()
  t.match(res.json(), { state: 'merged', merge_commit_sha: await tip(), should_remove_source_branch: true })
  t.match(await readCommit(repository, merged), {
    parentIds: [before, head],
    message: "Merge branch 'feature' into 'master'\n\nAdd a feature\n\nSee merge request !1",
    authorName: project.owner.name,
    committerEmail: project.owner.email
  })
  t.equal(await tip('feature'), null)
  await app.runJobs({ until: new Date(Date.now() + 60_000) })
  t.same(
    (await happened(project)).map(({ action }) => action),
    ['opened', 'accepted']
  )
  t.same(await rows('select * from merge_intents'), [])
  for (const again of [await owner.put(`${path}/${id}/merge`), await owner.put(`${path}/${id}/merge`, { sha: 'x' })]) {
    t.equal(again.statusCode, 406)
    t.same(again.json(), { message: 'Method Not Allowed' })
  }
  t.match((await owner.put(`${path}/${id}`, { state_event: 'reopen' })).json(), { state: 'merged' })
})

t.test('the checks run in their order', async t => {
  const { project, owner, path } = await subject()
  const reporter = app.as(await app.make.member(project, REPORTER))
  const developer = app.as(await app.make.member(project, DEVELOPER))
  const { id } = await makeMergeRequest(project)
  const one = `${path}/${id}`
  const refused = async (who: typeof owner, status: number, message: string, input: object = {}) => {
    const res = await who.put(`${one}/merge`, input)
    t.equal(res.statusCode, status, message)
    t.same(res.json().message, message)
  }
  t.equal((await owner.put(`${path}/0/merge`)).statusCode, 404)
  await refused(reporter, 401, '401 Unauthorized')
  await refused(developer, 401, '401 Unauthorized')
  await refused(owner, 409, 'SHA does not match HEAD of source branch', { sha: 'f'.repeat(40) })
  await owner.put(one, { title: 'WIP: not yet' })
  await refused(owner, 405, 'Method Not Allowed', { sha: 'f'.repeat(40) })
  await owner.put(one, { title: 'Now' })
  await app.make.file(project, 'feature.txt', 'another one\n')
  await refused(owner, 405, 'Branch cannot be merged', { sha: 'f'.repeat(40) })
  t.equal((await owner.get(one)).json().merge_status, 'cannot_be_merged')
  await owner.put(one, { state_event: 'close' })
  await refused(reporter, 401, '401 Unauthorized')
  await refused(owner, 406, 'Method Not Allowed')
  await createBranch(await projectRow(project), { branch_name: 'same', ref: 'master' }, originBy(project.owner))
  const nothing = await makeMergeRequest(project, { source_branch: 'same' })
  const res = await owner.put(`${path}/${nothing.id}/merge`)
  t.equal(res.statusCode, 405)
  t.same(res.json(), { message: 'Branch cannot be merged' })
})

t.test('developers may merge if the rule of the branch allows it', async t => {
  const { project, owner, path } = await subject()
  const developer = app.as(await app.make.member(project, DEVELOPER))
  const { id } = await makeMergeRequest(project)
  const protect = (flags: object) => owner.put(`/projects/${project.id}/repository/branches/master/protect`, flags)
  await protect({ developers_can_push: false, developers_can_merge: false })
  t.equal((await developer.put(`${path}/${id}/merge`)).statusCode, 401)
  await protect({ developers_can_merge: true })
  const merged = await developer.put(`${path}/${id}/merge`, { merge_commit_message: 'done by a developer' })
  t.equal(merged.statusCode, 200)
  const commits = await owner.get(`/projects/${project.id}/repository/commits`)
  t.equal(commits.json()[0].message, 'done by a developer')
})

t.test('a push with the commits merges, and other pushes cause a new check', async t => {
  const { project, owner, path, tip } = await subject()
  await makeBranch(project, 'other')
  const [first, second] = [
    await makeMergeRequest(project),
    await makeMergeRequest(project, { source_branch: 'other', remove_source_branch: true })
  ]
  await app.runJobs()
  const head = first.head_sha ?? ''
  const moves = [{ ref: 'refs/heads/master', old: (await tip()) ?? '', new: head }]
  await moveRefs(await projectRow(project), moves, originBy(project.owner))
  await app.runJobs()
  t.match((await owner.get(`${path}/${first.id}`)).json(), { state: 'merged', merge_commit_sha: null })
  t.match((await owner.get(`${path}/${second.id}`)).json(), { state: 'opened', merge_status: 'can_be_merged' })
  await app.make.file(project, 'other.txt', 'in conflict\n')
  await app.runJobs()
  t.match((await owner.get(`${path}/${second.id}`)).json(), { merge_status: 'cannot_be_merged' })
})

t.test('a push whose job is late merges no merge request that was created from its commit later', async t => {
  const { project, owner, path } = await subject()
  await app.make.file(project, 'late', 'text\n')
  const push = await row<{ id: number }>('select max(id) as id from ref_changes where project_id = ?', [project.id])
  await app.make.branch(project, 'empty')
  const { id } = await makeMergeRequest(project, { source_branch: 'empty' })
  await applyBranchMove(push?.id ?? 0)
  t.match((await owner.get(`${path}/${id}`)).json(), { state: 'opened' })

  t.test('but a push of commits to both branches does', async t => {
    await app.make.file(project, 'own', 'text\n', 'empty')
    await app.runJobs()
    const repository = repositoryPath(await projectRow(project))
    const [old, next] = [
      await refValue(repository, 'refs/heads/master'),
      await refValue(repository, 'refs/heads/empty')
    ]
    const move = { ref: 'refs/heads/master', old: old ?? '', new: next ?? '' }
    await moveRefs(await projectRow(project), [move], originBy(project.owner))
    await app.runJobs()
    t.match((await owner.get(`${path}/${id}`)).json(), { state: 'merged' })
  })
})

t.test('a merge includes pushes that no job has processed yet', async t => {
  const { project, owner, path, tip } = await subject()
  const { id, head_sha: head } = await makeMergeRequest(project)
  await app.make.file(project, 'late.txt', 'late\n', 'feature')
  const late = await owner.put(`${path}/${id}/merge`, { sha: head })
  t.equal(late.statusCode, 409)
  const merged = await owner.put(`${path}/${id}/merge`, { sha: await tip('feature') })
  t.match(merged.json(), { state: 'merged', sha: await tip('feature') })
})

t.test('20 concurrent merges into one branch: the history matches the responses', async t => {
  const { project, repository, owner, path, tip } = await subject()
  const found = []
  for (let number = 0; number < 20; number++) {
    const name = `part-${number}`
    await app.make.branch(project, name)
    // Two of three branches change a file of their own; the others change the same file.
    const file = number % 3 === 0 ? 'shared.txt' : `${name}.txt`
    await app.make.file(project, file, `${name}\n`, name)
    found.push(await makeMergeRequest(project, { source_branch: name, title: name }))
  }
  const answers = await Promise.all(found.map(({ id }) => owner.put(`${path}/${id}/merge`)))
  const accepted = found.filter((_, at) => answers[at]?.statusCode === 200)
  t.equal(accepted.length, 14, 'one of the seven that change the same file, and all others')
  for (const [at, { head_sha: head }] of found.entries()) {
    const answer = answers[at]
    const isIn = await isAncestor(repository, head ?? '', (await tip()) ?? '')
    if (answer?.statusCode === 200) t.ok(isIn, 'the branch contains the accepted commits')
    else {
      t.notOk(isIn)
      t.same([answer?.statusCode, answer?.json()], [405, { message: 'Branch cannot be merged' }])
    }
  }
  await app.runJobs()
  const merged = (await owner.get(path, { state: 'merged', per_page: 100 })).json() as { id: number }[]
  t.same(merged.map(({ id }) => id).sort(), accepted.map(({ id }) => id).sort())
})

t.test('concurrent merges of one merge request create one commit', async t => {
  const { project, owner, path } = await subject()
  const { id } = await makeMergeRequest(project)
  const answers = await Promise.all([1, 2, 3].map(() => owner.put(`${path}/${id}/merge`)))
  const statuses = answers.map(({ statusCode }) => statusCode)
  t.equal(statuses.filter(status => status === 200).length, 1)
  // The other requests find it merged, or find its commits in the branch.
  t.ok(
    statuses.every(status => [200, 405, 406].includes(status)),
    String(statuses)
  )
  const log = (await owner.get(`/projects/${project.id}/repository/commits`)).json() as { title: string }[]
  t.equal(log.filter(({ title }) => title.startsWith('Merge branch')).length, 1)
})

t.test('a merge has all its effects even if its process ends after the branch has moved', async t => {
  const { project, owner, path, tip } = await subject()
  const { id } = await makeMergeRequest(project, { remove_source_branch: true })
  const found = await findMergeRequest(id)
  if (!found) throw new Error('no merge request')
  const merge = { message: 'm', removeSourceBranch: false, finish: async () => undefined }
  // The process ends here: it does not mark the merge request as merged.
  const commit = await mergeBranches(await projectRow(project), found, merge, originBy(project.owner))
  t.match((await owner.get(`${path}/${id}`)).json(), { state: 'opened' })
  await app.runJobs()
  t.match((await owner.get(`${path}/${id}`)).json(), { state: 'merged', merge_commit_sha: commit })
  t.equal(await tip('feature'), null)
  await settleMerge({ id, userId: project.owner.id })
  await app.runJobs({ until: new Date(Date.now() + 60_000) })
  t.same(
    (await happened(project)).map(({ action }) => action),
    ['opened', 'accepted']
  )
})

t.test('a merge does not delete a protected branch', async t => {
  const { project, owner, path, tip } = await subject()
  const { id } = await makeMergeRequest(project, { remove_source_branch: true })
  await owner.put(`/projects/${project.id}/repository/branches/feature/protect`)
  await accept(project, id)
  t.not(await tip('feature'), null)
  t.match((await owner.get(`${path}/${id}`)).json(), { state: 'merged', force_remove_source_branch: true })
})

async function addPipeline(project: TestProject, sha: string | null, status: string, ref = 'feature'): Promise<number> {
  const { insertId } = await execute(
    `insert into pipelines (project_id, ref, tag, sha, before_sha, status, source, created_at, updated_at)
     values (?, ?, false, ?, ?, ?, 'push', now(), now())`,
    [project.id, ref, sha, sha, status]
  )
  return insertId
}

const endPipeline = (id: number, status: string) =>
  execute('update pipelines set status = ? where id = ?', [status, id])

t.test('if only successful builds may be merged, other merges are refused or wait', async t => {
  const { project, owner, path } = await subject()
  const developer = app.as(await app.make.member(project, MASTER))
  const { id, head_sha: head } = await makeMergeRequest(project)
  const one = `${path}/${id}`
  const changed = await owner.put(`/projects/${project.id}`, { only_allow_merge_if_build_succeeds: true })
  t.match(changed.json(), { only_allow_merge_if_build_succeeds: true })
  const pipeline = await addPipeline(project, head, 'failed')
  t.equal((await owner.put(`${one}/merge`)).statusCode, 405)
  t.equal((await owner.put(`${one}/merge`, { merge_when_build_succeeds: true })).statusCode, 405)
  await endPipeline(pipeline, 'running')
  t.equal((await owner.put(`${one}/merge`)).statusCode, 405)
  const cancel = () => developer.post(`${one}/cancel_merge_when_build_succeeds`)
  t.equal((await cancel()).statusCode, 406)
  const waits = await owner.put(`${one}/merge`, {
    merge_when_build_succeeds: true,
    should_remove_source_branch: true,
    merge_commit_message: 'after the build'
  })
  t.equal(waits.statusCode, 200)
  t.match(waits.json(), { state: 'opened', merge_when_build_succeeds: true, should_remove_source_branch: true })
  const put = () => developer.put(`${one}/cancel_merge_when_build_succeeds`)
  const canceled = await cancel()
  t.equal(canceled.statusCode, 201)
  t.equal((await put()).statusCode, 406)
  await owner.put(`${one}/merge`, { merge_when_build_succeeds: true })
  const again = await put()
  t.match([again.statusCode, again.json()], [200, { merge_when_build_succeeds: false }], 'PUT does the same')
  t.match(canceled.json(), { merge_when_build_succeeds: false, should_remove_source_branch: null })
  await owner.put(`${one}/merge`, { merge_when_build_succeeds: true, merge_commit_message: 'after the build' })
  await app.make.file(project, 'new.txt', 'new\n', 'feature')
  await app.runJobs()
  t.match((await owner.get(one)).json(), { merge_when_build_succeeds: false }, 'a push ends the wait')
  const { sha } = (await owner.get(one)).json()
  const next = await addPipeline(project, sha, 'pending')
  await owner.put(`${one}/merge`, { merge_when_build_succeeds: true, merge_commit_message: 'after the build' })
  await endPipeline(next, 'success')
  // Runs the check that follows each wait, because the pipeline may have ended at that moment.
  await app.runJobs()
  t.match((await owner.get(one)).json(), { state: 'merged' })
  t.equal((await owner.get(`/projects/${project.id}/repository/commits`)).json()[0].message, 'after the build')
})

t.test('a merge does not wait without a running pipeline', async t => {
  const { project, owner, path } = await subject()
  const { id } = await makeMergeRequest(project)
  t.match((await owner.put(`${path}/${id}/merge`, { merge_when_build_succeeds: true })).json(), { state: 'merged' })
  t.equal(
    (await row<{ merge_user_id: number }>('select merge_user_id from merge_requests where id = ?', [id]))
      ?.merge_user_id,
    project.owner.id
  )
})

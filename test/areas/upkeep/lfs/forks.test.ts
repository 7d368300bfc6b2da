// The LFS objects of merge requests from forks: when the target has them, what they count for, and what the end of the fork changes.
import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { findLinks, storeObject } from '../../../../src/areas/projects/lfs/objects.js'
import { heldSizeOf } from '../../../../src/areas/projects/lfs/shared-links.js'
import { lfsSizeOf } from '../../../../src/areas/projects/lfs/sizes.js'
import { eraseProject } from '../../../../src/areas/upkeep/removal/erase-project.js'
import { config, loadConfig } from '../../../../src/config.js'
import { row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import type { TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { accept } from '../../planning/merge-requests/make-merge-requests.js'

const app = await testApp(t)
const SIZE = 50
const pointer = (oid: string) => `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${SIZE}\n`

const contents = new Map<string, Buffer>()

async function makeObject(project: { id: number }): Promise<string> {
  const bytes = randomBytes(SIZE)
  const oid = createHash('sha256').update(bytes).digest('hex')
  contents.set(oid, bytes)
  await storeObject(project.id, { oid, size: SIZE }, () => Readable.from([bytes]))
  return oid
}

const has = async (project: { id: number }, oid: string) => (await findLinks(project.id, [oid])).has(oid)

/** A fork whose branch `feature` has one file in LFS. */
async function makeFork(project: TestProject) {
  const user = await app.make.user()
  const as = app.as(user)
  const { id } = (await as.post(`/projects/fork/${project.id}`)).json() as { id: number }
  await app.runJobs()
  await as.post(`/projects/${id}/repository/branches`, { branch_name: 'feature', ref: 'master' })
  const addFile = async () => {
    const oid = await makeObject({ id })
    const body = { file_path: `${oid}.bin`, branch_name: 'feature', content: pointer(oid), commit_message: 'Add' }
    await as.post(`/projects/${id}/repository/files`, body)
    return oid
  }
  const oid = await addFile()
  const remove = () => as.delete(`/projects/${id}`)
  const branches = { source_branch: 'feature', target_branch: 'master' }
  const open = async () => {
    const made = await as.post(`/projects/${id}/merge_requests`, {
      ...branches,
      title: 'Add',
      target_project_id: project.id
    })
    return made.json().id as number
  }
  return { id, oid, addFile, open, remove }
}

async function makeTarget(): Promise<TestProject> {
  const project = await app.make.project({ visibility_level: 20 })
  await app.make.file(project, 'README', 'hello')
  await app.runJobs()
  return project
}

t.test('an open merge request keeps the objects of each push in the target', async t => {
  const project = await makeTarget()
  const fork = await makeFork(project)
  await fork.open()
  await app.runJobs()
  t.ok(await has(project, fork.oid))
  const second = await fork.addFile()
  await app.runJobs()
  t.ok(await has(project, second))
  t.equal(await lfsSizeOf(project.id), 0, 'they do not count for the limit of the project')
  t.equal(await heldSizeOf(project.id), 2 * SIZE)
  await fork.remove()
  await app.runJobs()
  t.notOk(await row('select 1 from lfs_links where project_id = ?', [fork.id]))
  t.same([await has(project, fork.oid), await has(project, second)], [true, true], 'they outlive the fork')
})

t.test('the end of the fork links what no job has linked yet', async t => {
  const project = await makeTarget()
  const fork = await makeFork(project)
  await fork.open()
  t.notOk(await has(project, fork.oid))
  await fork.remove()
  // Before the job of the merge request.
  await eraseProject(fork.id, new AbortController().signal)
  t.notOk(await row('select 1 from lfs_links where project_id = ?', [fork.id]))
  t.ok(await has(project, fork.oid))
})

t.test('a merge before the job has the objects in its answer, and they count soon', async t => {
  const project = await makeTarget()
  const fork = await makeFork(project)
  const id = await fork.open()
  t.equal((await accept(project, id)).state, 'merged')
  t.ok(await has(project, fork.oid))
  t.equal(await lfsSizeOf(project.id), SIZE)
})

t.test('a merged object counts, even if the fork has gone before the job', async t => {
  const project = await makeTarget()
  const fork = await makeFork(project)
  const id = await fork.open()
  await app.runJobs()
  t.equal((await accept(project, id)).state, 'merged')
  t.equal(await lfsSizeOf(project.id), 0)
  await fork.remove()
  await app.runJobs()
  await app.runJobs({ until: new Date(Date.now() + 60_000) })
  t.equal(await lfsSizeOf(project.id), SIZE)
})

t.test('strangers keep at most lfs.max_project_size in a target, and a merge is not refused for that', async t => {
  const { home } = config()
  t.teardown(() => void loadConfig({ home }))
  loadConfig({ home, lfs: { max_project_size: 70 } })
  const project = await makeTarget()
  const [one, other] = [await makeFork(project), await makeFork(project)]
  await one.open()
  const id = await other.open()
  await app.runJobs()
  t.same([await has(project, one.oid), await has(project, other.oid)], [true, false])
  await makeObject(project)
  t.equal((await accept(project, id)).state, 'merged')
  t.ok(await has(project, other.oid))
})

t.test('an upload makes an object count that only a merge request held', async t => {
  const project = await makeTarget()
  const fork = await makeFork(project)
  await fork.open()
  await app.runJobs()
  const bytes = contents.get(fork.oid) as Buffer
  const send = () => storeObject(project.id, { oid: fork.oid, size: SIZE }, () => Readable.from([bytes]))
  await send()
  await send()
  t.equal(await lfsSizeOf(project.id), SIZE)
  t.ok(await has(project, fork.oid))
})

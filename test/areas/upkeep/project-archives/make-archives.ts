// A project with records of every kind, and archives that differ from a good one.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { openPromise } from 'yauzl'
import { ZipFile } from 'yazl'
import { createSchedule } from '../../../../src/areas/ci/pipelines/schedules/schedules.js'
import { storeObject } from '../../../../src/areas/projects/lfs/objects.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { DEVELOPER } from '../../../../src/lib/levels.js'
import type { TestApp } from '../../../helpers/app.js'
import { projectRow, someOrigin, type TestGroup, type TestProject, type TestUser } from '../../../helpers/factory.js'
import { endBuild, makePipeline } from '../../ci/builds/make-builds.js'
import { runBuild } from '../../ci/environments/make-environments.js'
import { makeVariable } from '../../ci/variables/make-variables.js'
import { accept, makeBranch, makeMergeRequest } from '../../planning/merge-requests/make-merge-requests.js'
import { formOf } from '../../projects/uploads/form.js'

export interface Everything {
  readonly project: TestProject
  readonly group: TestGroup
  readonly developer: TestUser
  /** Writes issue 2 and its note, and has no account after `rename`. */
  readonly stranger: TestUser
}

/** An object of LFS of the project. */
export const LFS_OID = createHash('sha256').update('a large file').digest('hex')

/** Texts that an archive has only on request. */
export const SECRETS = ['pass-of-hook', 'key-of-hook', 'token-of-hook', 'value-of-variable', 'value-of-schedule']

export async function makeEverything(app: TestApp): Promise<Everything> {
  const owner = await app.make.user()
  const group = await app.make.group({ owner })
  const project = await app.make.project({ owner, group, description: 'Calculates', snippets_enabled: true })
  const developer = await app.make.member(project, DEVELOPER)
  const stranger = await app.make.member(project, DEVELOPER)
  const as = { owner: app.as(owner), developer: app.as(developer), stranger: app.as(stranger) }
  const root = `/projects/${project.id}`
  const send = async (who: keyof typeof as, method: 'post' | 'put', path: string, body: object = {}) => {
    const res = await as[who][method](`${root}${path}`, body)
    if (res.statusCode >= 300) throw new Error(`${method} ${path}: ${res.statusCode} ${res.body}`)
    return res.json()
  }
  const jobs = [
    'compile: {script: [make], stage: test}',
    'unit: {script: [make]}',
    'deploy: {script: [make], environment: staging}'
  ]
  const [first, second, last] = await makePipeline(project, jobs.join('\n'))
  if (!first || !second || !last) throw new Error('no builds')
  await endBuild(first, { status: 'failed', trace: 'cannot compile\n' })
  await endBuild(second, { artifacts: Buffer.from('an archive'), expireIn: 86_400 })
  await runBuild(last)
  const large = Buffer.from('a large file')
  await storeObject(project.id, { oid: LFS_OID, size: large.length }, () => Readable.from([large]))
  const environments = (await as.owner.get(`${root}/environments`)).json()
  await send('owner', 'put', `/environments/${environments[0].id}`, { external_url: 'https://staging.example.org/' })
  // Without this, the builds of later pushes would run.
  await as.owner.put(root, { builds_enabled: false })
  await app.make.file(project, 'ключ.txt', 'text\n')
  await makeBranch(project, 'feature')
  await makeBranch(project, 'other')
  await makeBranch(project, 'third')
  await send('owner', 'post', '/labels', { name: 'bug', color: '#ff0000', description: 'is wrong', priority: 3 })
  await send('owner', 'post', '/labels', { name: 'später', color: '#00ff00' })
  const now = new Date()
  await execute(
    "insert into labels (group_id, title, color, created_at, updated_at) values (?, 'of-group', '#0000ff', ?, ?), (?, 'unused', '#0000ff', ?, ?)",
    [group.id, now, now, group.id, now, now]
  )
  await send('developer', 'post', '/labels/bug/subscription')
  const milestone = await send('owner', 'post', '/milestones', { title: 'v1', due_date: '2027-01-31' })
  const issue = await send('owner', 'post', '/issues', {
    title: 'First',
    description: 'see !1\u2028and 🎉',
    labels: 'bug,of-group',
    milestone_id: milestone.id,
    assignee_id: developer.id,
    due_date: '2027-02-01'
  })
  const confidential = await send('stranger', 'post', '/issues', {
    title: 'Second',
    description: 'by a stranger',
    confidential: true
  })
  await send('owner', 'post', '/issues', { title: 'Third' })
  await send('owner', 'put', `/issues/${confidential.id}`, { state_event: 'close' })
  await send('owner', 'post', `/issues/${issue.id}/time_estimate`, { duration: '2h' })
  await send('developer', 'post', `/issues/${issue.id}/add_spent_time`, { duration: '1h' })
  await app.make.file(project, 'as #1 says', 'named by the message of its commit\n')
  const note = await send('developer', 'post', `/issues/${issue.id}/notes`, { body: 'A note about #2' })
  await send('stranger', 'post', `/issues/${issue.id}/notes`, { body: 'Another' })
  await send('developer', 'post', `/issues/${issue.id}/award_emoji`, { name: 'thumbsup' })
  await send('stranger', 'post', `/issues/${issue.id}/award_emoji`, { name: 'tada' })
  await send('owner', 'post', `/issues/${issue.id}/notes/${note.id}/award_emoji`, { name: 'heart' })
  const merged = await makeMergeRequest(project, { title: 'Merged', description: 'Closes #3' })
  await accept(project, merged.id)
  const open = await makeMergeRequest(project, { source_branch: 'other', title: 'Open', labels: 'später' })
  await makeMergeRequest(project, { source_branch: 'third', title: 'From a fork' })
  await execute("update merge_requests set source_project_id = 2000000 where title = 'From a fork'")
  await send('developer', 'post', `/merge_requests/${open.id}/notes`, { body: 'Fine' })
  const snippet = await send('developer', 'post', '/snippets', {
    title: 'Snippet',
    file_name: 'a.rb',
    code: 'puts 1\n',
    visibility_level: 0
  })
  await send('owner', 'post', `/snippets/${snippet.id}/notes`, { body: 'Neat' })
  const sha = (await as.owner.get(`${root}/repository/commits/master`)).json().id
  await send('owner', 'post', `/repository/commits/${sha}/comments`, {
    note: 'Line',
    path: 'ключ.txt',
    line: 1,
    line_type: 'new'
  })
  await send('owner', 'post', `/statuses/${sha}`, {
    state: 'success',
    name: 'ci',
    target_url: 'https://ci.example.org/1'
  })
  await send('owner', 'post', '/repository/tags', {
    tag_name: 'v1.0',
    ref: 'master',
    message: 'annotated',
    release_description: 'Notes'
  })
  await send('owner', 'put', '/repository/branches/other/protect', { developers_can_push: true })
  const [board] = (await as.owner.get(`${root}/boards`)).json()
  const [bug] = (await as.owner.get(`${root}/labels`)).json().filter(({ name }: { name: string }) => name === 'bug')
  await send('owner', 'post', `/boards/${board.id}/lists`, { label_id: bug.id })
  await as.owner.inject({ method: 'POST', url: `/api/v3${root}/uploads`, ...formOf('notes.txt', 'hello') })
  const picture = await as.owner.inject({ method: 'POST', url: `/api/v3${root}/uploads`, ...formOf('logo.png', 'png') })
  const avatar = String(picture.json().url).replace('/uploads/', '')
  await execute('update projects set avatar = ? where id = ?', [avatar, project.id])
  const url = 'https://user:pass-of-hook@hooks.example.org/in?key=key-of-hook'
  await send('owner', 'post', '/hooks', { url, token: 'token-of-hook', issues_events: true })
  await app.runJobs()
  await as.owner.put(root, { builds_enabled: true })
  await send('owner', 'post', '/variables', { key: 'PASSWORD', value: 'value-of-variable', protected: true })
  await makeVariable(project, 'PLAIN', 'two words', false)
  const schedule = { ref: 'master', cron: '0 4 * * *', description: 'nightly', active: true, owner: developer.username }
  const variables = { NIGHT: 'value-of-schedule' }
  await createSchedule(await projectRow(project), { ...schedule, variables }, someOrigin)
  return { project, group, developer, stranger }
}

export type Entries = Map<string, Buffer>

export async function readEntries(path: string): Promise<Entries> {
  const zip = await openPromise(path, { autoClose: false, lazyEntries: true })
  const entries: Entries = new Map()
  for await (const entry of zip.eachEntry()) {
    entries.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)))
  }
  zip.close()
  return entries
}

/** Writes an archive with these entries, and matching checksums. */
export async function writeEntries(path: string, entries: Entries, mode = 0o100600): Promise<void> {
  const zip = new ZipFile()
  const sums = [...entries]
    .filter(([name]) => name !== 'SHA256SUMS')
    .map(([name, content]) => `${createHash('sha256').update(content).digest('hex')}  ${name}\n`)
  for (const [name, content] of entries) {
    const isSums = name === 'SHA256SUMS'
    zip.addBuffer(isSums ? Buffer.from(sums.join('')) : content, name, {
      mode: name === 'refs.jsonl' ? mode : 0o100600
    })
  }
  zip.end()
  await pipeline(zip.outputStream, createWriteStream(path))
}

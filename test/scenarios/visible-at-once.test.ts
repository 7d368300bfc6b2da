// A change that one process makes is visible in another at the next request: in lists, counts, searches, reads, and for git.
// The case: a person who leaves the team contacts the other server of the same appliance a moment later.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { freePort, makeUser, program, startAppliance } from './appliance.js'
import { askApi, eventually, git, remoteUrl, tryGit } from './client.js'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-seen-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const home = join(folder, 'home')
const ann = await makeUser(home, 'ann', ['--admin'])
const bob = await makeUser(home, 'bob')
const appliance = await startAppliance({ home })
t.teardown(() => appliance.stop())
const second = await startSecond()
t.teardown(async () => {
  second.child.kill('SIGTERM')
  await second.exited
})

/** Another server process on the same home and database. */
async function startSecond(): Promise<{ child: ChildProcess; exited: Promise<unknown>; url: string }> {
  const port = await freePort()
  const { NODE_OPTIONS: _, ...environment } = process.env
  const args = [program, 'server', '--home', home, '--port', String(port)]
  const child = spawn(process.execPath, args, { env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', text => (said += text))
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  await eventually(
    () => {
      if (child.exitCode !== null) throw new Error(`the second server ended: ${said}`)
      return fetch(`${url}/-/readiness`).then(
        ({ ok }) => ok,
        () => false
      )
    },
    () => `the second server did not come up: ${said}`
  )
  return { child, exited, url }
}

interface Made {
  readonly id: number
  readonly path: string
}

/** Ann changes a record at the first server. */
async function change<T = Made>(method: string, path: string, body?: unknown): Promise<T> {
  const { status, json } = await askApi<T>({ url: appliance.url, token: ann.private_token }, method, path, body)
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(json)}`)
  return json
}

/** Bob reads at the second server. */
const look = (path: string) => askApi<{ id: number }[]>({ url: second.url, token: bob.private_token }, 'GET', path)

const source = join(folder, 'source')
await git(folder, ['init', '--quiet', '--initial-branch=master', source])
writeFileSync(join(source, 'README'), 'read me\n')
await git(source, ['add', '.'])
await git(source, ['commit', '--quiet', '-m', 'Begin'])

let count = 0
/** A project with a commit, in a namespace. */
async function newProject(values: object = {}, namespace = 'ann'): Promise<Made> {
  const name = `seen-${++count}`
  const made = await change('POST', '/projects', { name, ...values })
  const remote = remoteUrl(appliance.url, `${namespace}/${name}`, 'ann', ann.private_token)
  await git(source, ['push', '--quiet', remote, 'master'])
  return { ...made, path: `${namespace}/${name}` }
}

const remoteOf = ({ path }: Made) => remoteUrl(second.url, path, 'bob', bob.private_token)

/** How Bob finds a project at the second server: in each way that could remember something. */
async function ways(project: Made, lists: readonly string[]) {
  const name = project.path.split('/')[1]
  const paths = [...lists, `/projects/search/${name}`]
  const found: Record<string, boolean> = {}
  const totals: Record<string, number> = {}
  for (const path of paths) {
    const { json, headers } = await look(`${path}?per_page=100`)
    found[path] = Array.isArray(json) && json.some(({ id }) => id === project.id)
    totals[path] = Number(headers.get('x-total'))
  }
  found.record = (await look(`/projects/${project.id}`)).status === 200
  found.path = (await look(`/projects/${encodeURIComponent(project.path)}`)).status === 200
  found.events = (await look(`/projects/${project.id}/events`)).status === 200
  found.tree = (await look(`/projects/${project.id}/repository/tree`)).status === 200
  found.git = (await tryGit(folder, ['ls-remote', remoteOf(project)])).ok
  return { found, totals }
}

const sees = (t: Test, { found }: Awaited<ReturnType<typeof ways>>, value: boolean, why: string) =>
  t.same(found, Object.fromEntries(Object.keys(found).map(name => [name, value])), why)

/** Checks that Bob sees the project in every way, Ann changes something, and Bob sees it in no way. */
async function gone(t: Test, project: Made, lists: readonly string[], act: () => Promise<unknown>): Promise<void> {
  const before = await ways(project, lists)
  sees(t, before, true, 'seen before')
  await act()
  const after = await ways(project, lists)
  sees(t, after, false, 'gone at the next request')
  for (const [path, total] of Object.entries(before.totals))
    t.ok((after.totals[path] ?? 0) < total, `${path} counts less`)
}

t.test('a member who is removed', async t => {
  const project = await newProject()
  await change('POST', `/projects/${project.id}/members`, { user_id: bob.id, access_level: 30 })
  await gone(t, project, ['/projects', '/projects/visible'], () =>
    change('DELETE', `/projects/${project.id}/members/${bob.id}`)
  )
})

t.test('a group whose member is removed, whose share ends, and which is deleted', async t => {
  const group = await change('POST', '/groups', { name: 'Team', path: 'team' })
  const join = () => change('POST', `/groups/${group.id}/members`, { user_id: bob.id, access_level: 30 })
  await join()
  const project = await newProject({ namespace_id: group.id }, 'team')
  const lists = ['/projects', '/projects/visible', '/groups/team/projects']
  await gone(t, project, lists, () => change('DELETE', `/groups/${group.id}/members/${bob.id}`))
  t.equal((await look('/groups/team')).status, 404)
  t.same((await look('/groups')).json, [])

  await join()
  const shared = await newProject()
  const share = { group_id: group.id, group_access: 20 }
  await change('POST', `/projects/${shared.id}/share`, share)
  await gone(t, shared, ['/projects', '/projects/visible'], () =>
    change('DELETE', `/projects/${shared.id}/share/${group.id}`)
  )
  await change('POST', `/projects/${shared.id}/share`, share)
  sees(t, await ways(shared, ['/projects']), true, 'visible at once when shared again')
  await gone(t, project, lists, () => change('DELETE', `/groups/${group.id}`))
  t.same((await look('/groups?all_available=true')).json, [])
  t.equal((await look('/groups/team/members')).status, 404)
  sees(t, await ways(shared, ['/projects']), false, 'the share is deleted with the group')
})

t.test('a project that is made private, archived or deleted', async t => {
  const project = await newProject({ visibility_level: 20 })
  const edit = (visibility_level: number) => change('PUT', `/projects/${project.id}`, { visibility_level })
  await gone(t, project, ['/projects/visible'], () => edit(0))
  await edit(10)
  sees(t, await ways(project, ['/projects/visible']), true, 'open again')
  t.equal((await askApi({ url: second.url }, 'GET', `/projects/${project.id}`)).status, 404, 'but not to everybody')

  await change('POST', `/projects/${project.id}/members`, { user_id: bob.id, access_level: 30 })
  const clone = join(folder, 'clone')
  await git(folder, ['clone', '--quiet', remoteOf(project), clone])
  const push = (branch: string) => tryGit(clone, ['push', 'origin', `master:${branch}`])
  t.ok((await push('one')).ok)
  await change('POST', `/projects/${project.id}/archive`)
  t.same((await look('/projects')).json, [], 'archived projects are in no list')
  t.notOk((await push('two')).ok, 'archived projects refuse pushes')
  await change('POST', `/projects/${project.id}/unarchive`)
  t.ok((await push('three')).ok)
  await gone(t, project, ['/projects', '/projects/visible'], () => change('DELETE', `/projects/${project.id}`))
  t.notOk((await tryGit(clone, ['fetch', 'origin'])).ok, 'the clone cannot be used again')
})

t.test('records of planning, whose answers each server keeps', async t => {
  const { id: projectId } = await newProject({ visibility_level: 10 })
  const issues = `/projects/${projectId}/issues`
  const labels = `/projects/${projectId}/labels`
  const { id } = await change('POST', issues, { title: 'Old', labels: 'slow' })
  const seen = async (path: string) => JSON.stringify((await look(path)).json)
  const kept = async () => {
    for (const path of [issues, `${issues}/${id}`, `${issues}/${id}/notes`, labels]) await seen(path)
  }
  await kept()
  await change('PUT', `${issues}/${id}`, { title: 'New' })
  for (const path of [issues, `${issues}/${id}`]) t.match(await seen(path), /"title":"New"/, path)
  await kept()
  await change('PUT', labels, { name: 'slow', new_name: 'fast' })
  t.match(await seen(labels), /"name":"fast"/)
  t.match(await seen(issues), /"labels":\["fast"\]/)
  await kept()
  await change('POST', `${issues}/${id}/notes`, { body: 'Well done' })
  t.match(await seen(`${issues}/${id}/notes`), /Well done/)
  t.match(await seen(issues), /"user_notes_count":1/)
  await kept()
  await change('PUT', `/users/${ann.id}`, { name: 'Ann the Second' })
  for (const path of [issues, `${issues}/${id}/notes`]) t.match(await seen(path), /Ann the Second/, path)
  await kept()
  await change('DELETE', `${issues}/${id}`)
  t.equal(await seen(issues), '[]')
  t.equal((await look(`${issues}/${id}`)).status, 404)
  t.equal((await look(`${issues}/${id}/notes`)).status, 404)
})

t.test('a running clone ends when its user is removed', async t => {
  const large = join(folder, 'large')
  await git(folder, ['init', '--quiet', '--initial-branch=master', large])
  // More than the buffers of both sides can take, and incompressible.
  writeFileSync(join(large, 'noise'), randomBytes(40_000_000))
  await git(large, ['add', '.'])
  await git(large, ['commit', '--quiet', '-m', 'Noise'])
  const { id } = await change('POST', '/projects', { name: 'large' })
  await git(large, ['push', '--quiet', remoteUrl(appliance.url, 'ann/large', 'ann', ann.private_token), 'master'])
  await change('POST', `/projects/${id}/members`, { user_id: bob.id, access_level: 20 })
  const head = await git(large, ['rev-parse', 'master'])
  const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
  const body = `${line(`want ${head} no-progress ofs-delta\n`)}0000${line('done\n')}`
  const asked = request(`${second.url}/ann/large.git/git-upload-pack`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`bob:${bob.private_token}`).toString('base64')}`,
      'content-type': 'application/x-git-upload-pack-request'
    }
  })
  asked.end(body)
  const [response] = await once(asked, 'response')
  t.equal(response.statusCode, 200)
  // A client that reads slowly: it has only the beginning.
  await change('DELETE', `/projects/${id}/members/${bob.id}`)
  let read = 0
  const cut = await new Promise<boolean>(resolve => {
    response.once('error', () => resolve(true))
    response.once('end', () => resolve(false))
    const step = async () => {
      while (!response.destroyed && !response.readableEnded) {
        read += response.read()?.length ?? 0
        await sleep(20)
      }
    }
    response.once('readable', () => void step())
  })
  t.ok(cut, 'the connection is cut')
  t.ok(read < 40_000_000, `${read} bytes were read`)
})

t.test('a user who is blocked', async t => {
  const project = await newProject({ visibility_level: 10 })
  t.equal((await look('/user')).status, 200)
  await change('PUT', `/users/${bob.id}/block`)
  for (const path of ['/user', '/projects', `/projects/${project.id}`]) t.equal((await look(path)).status, 401, path)
  t.notOk((await tryGit(folder, ['ls-remote', remoteOf(project)])).ok)
  const password = remoteUrl(second.url, project.path, 'bob', 'password of bob')
  t.notOk((await tryGit(folder, ['ls-remote', password])).ok)
})

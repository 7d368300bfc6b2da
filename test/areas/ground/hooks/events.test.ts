// The events of system hooks and the operations that emit them. The test runs every operation of the table and compares
// the events at a real receiver, field by field, with "Hook deliveries" of the requirement, and with docs/operate/hooks.md.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadConfig, publicUrl, root } from '../../../../src/config.js'
import { SYSTEM_HOOK_EVENTS } from '../../../../src/webhooks/events.js'
import { type Operation, operations, operationsOf } from '../../../../src/webhooks/operations.js'
import { routesOf } from '../../../access/route-list.js'
import { environment } from '../../../git/history.js'
import { testApp } from '../../../helpers/app.js'
import { commands } from '../../../helpers/command-line.js'
import { testDatabase } from '../../../helpers/database.js'
import type { TestProject, TestUser } from '../../../helpers/factory.js'
import { newKey } from '../../../helpers/ssh-keys.js'
import t, { type Test } from '../../../helpers/tap.js'
import { receiver } from '../../../webhooks/receiver.js'

type Payload = { readonly event_name: string } & { readonly [field: string]: unknown }

await testDatabase()
process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
loadConfig({ port: 0 })

const app = await testApp(t)
const admin = app.as(await app.make.admin())
const { port, received } = await receiver(t, response => response.end())
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const ZEROS = '0'.repeat(40)
const SHA = /^[0-9a-f]{40}$/

const emitted = new Map<Operation, Set<string>>()
const samples = new Map<string, Payload>()

/** Runs an operation, and records its events for the table. Returns the payloads that the receiver got. */
async function telling(operation: Operation, work: () => Promise<unknown>): Promise<Payload[]> {
  await app.runJobs()
  received.splice(0)
  await work()
  await app.runJobs()
  const told = received.splice(0)
  const known = emitted.get(operation) ?? new Set()
  emitted.set(operation, known)
  return told.map(({ method, headers, body }) => {
    const payload = JSON.parse(body) as Payload
    t.match([method, headers['content-type'], headers['x-gitstead-event'], headers['x-gitlab-event']], [
      'POST',
      'application/json',
      'System Hook',
      'System Hook'
    ] as const)
    t.equal(headers['x-gitstead-token'], 'the token')
    known.add(payload.event_name)
    samples.set(payload.event_name, payload)
    return payload
  })
}

const one = (payloads: Payload[], event: string) => {
  const found = payloads.filter(({ event_name }) => event_name === event)
  t.equal(found.length, 1, `one ${event}`)
  return found[0] as Payload
}

/** Checks the dates. Returns the payload without them, so that tests compare all other fields. */
function dated(payload: Payload): object {
  const { created_at, updated_at, ...rest } = payload
  t.match({ created_at, updated_at }, { created_at: DATE_TIME, updated_at: DATE_TIME })
  return rest
}

const url = `http://127.0.0.1:${port}/`
await admin.post('/hooks', { url, token: 'the token', tag_push_events: true })

const userFields = (event: string, { id, username, name, email }: TestUser) => ({
  event_name: event,
  name,
  email,
  user_id: id,
  username
})
const keyFields = (event: string, id: number, key: string, { username }: TestUser) => ({
  event_name: event,
  id,
  key,
  username
})
const projectFields = (event: string, name: string, id: number, owner: TestUser, visibility = 'private') => ({
  event_name: event,
  name,
  path: name.toLowerCase(),
  path_with_namespace: `${owner.username}/${name.toLowerCase()}`,
  project_id: id,
  owner_name: owner.name,
  owner_email: owner.email,
  project_visibility: visibility
})

t.test('users and their keys', async t => {
  const body = { username: 'ada', name: 'Ada Lovelace', email: 'ada@example.org', password: 'a long password' }
  let user = {} as TestUser
  const [made] = await telling('POST /users', async () => {
    const { id } = (await admin.post('/users', body)).json()
    user = { ...body, id, admin: false, external: false, privateToken: '' }
  })
  t.same(dated(made as Payload), userFields('user_create', user))

  for (const by of ['themselves', 'an administrator'] as const) {
    const who = by === 'themselves' ? await app.make.user() : user
    const [asker, path] = by === 'themselves' ? [app.as(who), '/user/keys'] : [admin, `/users/${who.id}/keys`]
    const [add, remove] = (
      by === 'themselves'
        ? ['POST /user/keys', 'DELETE /user/keys/:key_id']
        : ['POST /users/:id/keys', 'DELETE /users/:id/keys/:key_id']
    ) as [Operation, Operation]
    const key = newKey()
    let id = 0
    const added = await telling(add, async () => {
      id = (await asker.post(path, { title: 'laptop', key })).json().id
    })
    t.same(dated(one(added, 'key_create')), keyFields('key_create', id, key, who), by)
    const removed = await telling(remove, () => asker.delete(`${path}/${id}`))
    t.same(dated(one(removed, 'key_destroy')), keyFields('key_destroy', id, key, who), by)
    t.equal(added.length + removed.length, 2)
  }
})

t.test('deploy keys', async t => {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const path = `/projects/${project.id}/deploy_keys`
  for (const [operation, end] of [
    ['DELETE /projects/:id/deploy_keys/:key_id', ''],
    ['DELETE /projects/:id/deploy_keys/:key_id/disable', '/disable']
  ] as const) {
    const key = newKey()
    let id = 0
    const added = await telling('POST /projects/:id/deploy_keys', async () => {
      id = (await owner.post(path, { title: 'server', key })).json().id
    })
    t.same(dated(one(added, 'deploykey_create')), { event_name: 'deploykey_create', id, key })
    t.same(await telling('POST /projects/:id/deploy_keys', () => owner.post(path, { title: 'again', key })), [])
    const removed = await telling(operation, () => owner.delete(`${path}/${id}${end}`))
    t.same(dated(one(removed, 'deploykey_destroy')), { event_name: 'deploykey_destroy', id, key })
    t.equal(added.length + removed.length, 2)
  }
})

t.test('projects, and the deletion of a user', async t => {
  const owner = await app.make.user()
  let id = 0
  const made = await telling('POST /projects', async () => {
    id = (await app.as(owner).post('/projects', { name: 'Diaspora', visibility_level: 10 })).json().id
  })
  t.same(dated(one(made, 'project_create')), projectFields('project_create', 'Diaspora', id, owner, 'internal'))

  const renamed = { ...owner, username: `${owner.username}-two` }
  const moved = await telling('PUT /users/:id', () => admin.put(`/users/${owner.id}`, { username: renamed.username }))
  t.same(dated(one(moved, 'project_rename')), {
    ...projectFields('project_rename', 'Diaspora', id, renamed, 'internal'),
    old_path_with_namespace: `${owner.username}/diaspora`
  })

  const key = newKey()
  const keyId = (await admin.post(`/users/${owner.id}/keys`, { title: 'k', key })).json().id
  const gone = await telling('DELETE /users/:id', () => admin.delete(`/users/${owner.id}`))
  t.equal(gone.length, 3)
  t.same(dated(one(gone, 'user_destroy')), userFields('user_destroy', renamed))
  t.same(dated(one(gone, 'key_destroy')), keyFields('key_destroy', keyId, key, renamed))
  t.same(dated(one(gone, 'project_destroy')), projectFields('project_destroy', 'Diaspora', id, renamed, 'internal'))
})

t.test('groups and their members', async t => {
  const owner = await app.make.user()
  let id = 0
  const made = await telling('POST /groups', async () => {
    id = (await app.as(owner).post('/groups', { name: 'The team', path: 'team' })).json().id
  })
  const group = { name: 'The team', path: 'team', group_id: id, owner_name: null, owner_email: null }
  t.same(dated(one(made, 'group_create')), { event_name: 'group_create', ...group })
  const memberFields = (event: string, user: TestUser, level: string) => ({
    event_name: event,
    group_name: 'The team',
    group_path: 'team',
    group_id: id,
    user_username: user.username,
    user_name: user.name,
    user_email: user.email,
    user_id: user.id,
    group_access: level
  })
  t.same(dated(one(made, 'user_add_to_group')), memberFields('user_add_to_group', owner, 'Owner'))

  const members = `/groups/${id}/members`
  const user = await app.make.user()
  const added = await telling('POST /groups/:id/members', () =>
    app.as(owner).post(members, { user_id: user.id, access_level: 40 })
  )
  t.same(dated(one(added, 'user_add_to_group')), memberFields('user_add_to_group', user, 'Master'))
  const removed = await telling('DELETE /groups/:id/members/:user_id', () =>
    app.as(user).delete(`${members}/${user.id}`)
  )
  t.same(dated(one(removed, 'user_remove_from_group')), memberFields('user_remove_from_group', user, 'Master'))

  await app.make.accessRequest('namespace', { id }, user)
  const approved = await telling('PUT /groups/:id/access_requests/:user_id/approve', () =>
    app.as(owner).put(`/groups/${id}/access_requests/${user.id}/approve`)
  )
  t.same(dated(one(approved, 'user_add_to_group')), memberFields('user_add_to_group', user, 'Developer'))

  await app.make.project({ owner, group: { id, path: 'team' }, name: 'inside' })
  const moved = await telling('PUT /groups/:id', () => app.as(owner).put(`/groups/${id}`, { path: 'other' }))
  t.match(one(moved, 'project_rename'), {
    path_with_namespace: 'other/inside',
    old_path_with_namespace: 'team/inside',
    owner_name: 'The team',
    owner_email: ''
  })
  const gone = await telling('DELETE /groups/:id', () => app.as(owner).delete(`/groups/${id}`))
  t.same(dated(one(gone, 'group_destroy')), { event_name: 'group_destroy', ...group, path: 'other' })
  t.match(one(gone, 'project_destroy'), { path_with_namespace: 'other/inside' })
  t.equal(gone.length, 2)
})

t.test('members of projects', async t => {
  const project = await app.make.project({ name: 'shared', visibility_level: 10 })
  const { owner } = project
  const user = await app.make.user()
  const fields = (event: string, level: string) => ({
    event_name: event,
    project_name: 'shared',
    project_path: 'shared',
    project_path_with_namespace: project.path,
    project_id: project.id,
    user_username: user.username,
    user_name: user.name,
    user_email: user.email,
    user_id: user.id,
    access_level: level,
    project_access: level,
    project_visibility: 'internal'
  })
  const members = `/projects/${project.id}/members`
  const added = await telling('POST /projects/:id/members', () =>
    app.as(owner).post(members, { user_id: user.id, access_level: 10 })
  )
  t.same(dated(one(added, 'user_add_to_team')), fields('user_add_to_team', 'Guest'))
  const changed = await app.as(owner).put(`${members}/${user.id}`, { access_level: 20 })
  t.equal(changed.statusCode, 200)
  const removed = await telling('DELETE /projects/:id/members/:user_id', () =>
    app.as(owner).delete(`${members}/${user.id}`)
  )
  t.same(dated(one(removed, 'user_remove_from_team')), fields('user_remove_from_team', 'Reporter'))
  t.equal(removed.length, 1, 'another level is no event')
  await app.make.accessRequest('project', project, user)
  const approved = await telling('PUT /projects/:id/access_requests/:user_id/approve', () =>
    app.as(owner).put(`/projects/${project.id}/access_requests/${user.id}/approve`, { access_level: 10 })
  )
  t.same(dated(one(approved, 'user_add_to_team')), fields('user_add_to_team', 'Guest'))
})

t.test('changes of a project', async t => {
  const owner = await app.make.user()
  const asker = app.as(owner)
  let id = 0
  const given = await telling('POST /projects/user/:user_id', async () => {
    id = (await admin.post(`/projects/user/${owner.id}`, { name: 'Gift', visibility_level: 20 })).json().id
  })
  t.same(dated(one(given, 'project_create')), projectFields('project_create', 'Gift', id, owner, 'public'))

  const moved = await telling('PUT /projects/:id', async () => {
    await asker.put(`/projects/${id}`, { description: 'no event' })
    await asker.put(`/projects/${id}`, { name: 'Other', path: 'other' })
  })
  t.equal(moved.length, 1)
  t.same(dated(one(moved, 'project_rename')), {
    ...projectFields('project_rename', 'Other', id, owner, 'public'),
    old_path_with_namespace: `${owner.username}/gift`
  })

  const forker = await app.make.user()
  let fork = 0
  const forked = await telling('POST /projects/fork/:id', async () => {
    fork = (await app.as(forker).post(`/projects/fork/${id}`)).json().id
  })
  t.same(dated(one(forked, 'project_create')), projectFields('project_create', 'Other', fork, forker, 'public'))

  const group = await app.make.group({ visibilityLevel: 10 })
  const transferred = await telling('POST /groups/:id/projects/:project_id', () =>
    admin.post(`/groups/${group.path}/projects/${encodeURIComponent(`${owner.username}/other`)}`)
  )
  t.same(dated(one(transferred, 'project_transfer')), {
    ...projectFields('project_transfer', 'Other', id, owner, 'internal'),
    path_with_namespace: `${group.path}/other`,
    owner_name: group.path,
    owner_email: '',
    old_path_with_namespace: `${owner.username}/other`
  })

  const removed = await telling('DELETE /projects/:id', () => app.as(forker).delete(`/projects/${fork}`))
  t.same(dated(one(removed, 'project_destroy')), projectFields('project_destroy', 'Other', fork, forker, 'internal'))
})

/** Checks all fields of a push. The caller checks the values that depend on the pushed commits. */
function checkPush(t: Test, payload: Payload, event: 'push' | 'tag_push', { id, path, owner }: TestProject): void {
  const { before, after, ref, checkout_sha, message, project: shown, repository, ...rest } = payload
  t.same(rest, {
    object_kind: event,
    event_name: event,
    user_id: owner.id,
    user_name: owner.name,
    user_email: owner.email,
    user_avatar: null,
    project_id: id,
    commits: [],
    total_commits_count: 0
  })
  const name = path.split('/')[1]
  const web_url = `${publicUrl()}/${path}`
  const git_http_url = `${web_url}.git`
  const ssh = `ssh://git@127.0.0.1:2222/${path}.git`
  t.same(shown, {
    name,
    description: null,
    web_url,
    avatar_url: null,
    git_ssh_url: ssh,
    git_http_url,
    namespace: owner.username,
    visibility_level: 0,
    path_with_namespace: path,
    default_branch: 'master',
    homepage: web_url,
    url: ssh,
    ssh_url: ssh,
    http_url: git_http_url
  })
  t.same(repository, {
    name,
    url: ssh,
    description: null,
    homepage: web_url,
    git_http_url,
    git_ssh_url: ssh,
    visibility_level: 0
  })
  t.ok([before, after, ref].every(value => typeof value === 'string'))
  t.ok(checkout_sha === null || SHA.test(String(checkout_sha)))
  t.ok(message === null || typeof message === 'string')
}

t.test('the files API', async t => {
  const project = await app.make.project()
  const asker = app.as(project.owner)
  const path = `/projects/${project.id}/repository/files`
  const file = { file_path: 'README', branch_name: 'master', commit_message: 'Write', content: 'one' }
  const asks: [Operation, () => Promise<{ statusCode: number }>][] = [
    ['POST /projects/:id/repository/files', () => asker.post(path, file)],
    ['PUT /projects/:id/repository/files', () => asker.put(path, { ...file, content: 'two' })],
    ['DELETE /projects/:id/repository/files', () => asker.delete(path, { ...file, content: '' })]
  ]
  let before = ZEROS
  for (const [operation, ask] of asks) {
    const told = await telling(operation, async () => t.ok((await ask()).statusCode < 300, operation))
    const push = one(told, 'push')
    t.equal(told.length, 1)
    t.match(push, { before, after: SHA, ref: 'refs/heads/master', message: null })
    t.equal(push.checkout_sha, push.after)
    checkPush(t, push, 'push', project)
    before = String(push.after)
  }
})

t.test('branches, tags and commits', async t => {
  const project = await app.make.project()
  const asker = app.as(project.owner)
  const below = `/projects/${project.id}/repository`
  await app.make.file(project, 'README', 'one')
  const branch = (branch_name: string) => asker.post(`${below}/branches`, { branch_name, ref: 'master' })
  const commit = (file_path: string) =>
    asker.post(`${below}/commits`, {
      branch_name: 'side',
      commit_message: 'Two files',
      actions: [{ action: 'create', file_path, content: 'x' }]
    })
  const run = async (operation: Operation, event: string, ask: () => Promise<{ statusCode: number }>) => {
    const told = await telling(operation, async () => t.ok((await ask()).statusCode < 300, operation))
    t.equal(told.length, 1)
    return one(told, event)
  }
  t.match(await run('POST /projects/:id/repository/branches', 'push', () => branch('side')), {
    before: ZEROS,
    after: SHA,
    ref: 'refs/heads/side'
  })
  t.match(await run('POST /projects/:id/repository/commits', 'push', () => commit('a')), { ref: 'refs/heads/side' })
  const pick = () => asker.post(`${below}/commits/side/cherry_pick`, { branch: 'master' })
  t.match(await run('POST /projects/:id/repository/commits/:sha/cherry_pick', 'push', pick), {
    ref: 'refs/heads/master'
  })
  await branch('reviewed')
  await app.make.file(project, 'reviewed.txt', 'x', 'reviewed')
  const requests = `/projects/${project.id}/merge_requests`
  const wish = { source_branch: 'reviewed', target_branch: 'master', title: 'Reviewed' }
  const { id } = (await asker.post(requests, wish)).json()
  const merge = () => asker.put(`${requests}/${id}/merge`)
  t.match(await run('PUT /projects/:id/merge_requests/:merge_request_id/merge', 'push', merge), {
    ref: 'refs/heads/master'
  })
  await asker.delete(`${below}/branches/reviewed`)
  const tag = () => asker.post(`${below}/tags`, { tag_name: 'v1', ref: 'master', message: 'The first' })
  t.match(await run('POST /projects/:id/repository/tags', 'tag_push', tag), { ref: 'refs/tags/v1' })
  const removeBranch = () => asker.delete(`${below}/branches/side`)
  t.match(await run('DELETE /projects/:id/repository/branches/:branch', 'push', removeBranch), { after: ZEROS })
  await branch('merged')
  const removeMerged = () => asker.delete(`${below}/merged_branches`)
  t.match(await run('DELETE /projects/:id/repository/merged_branches', 'push', removeMerged), {
    after: ZEROS,
    ref: 'refs/heads/merged'
  })
  const silent = await telling('POST /projects/:id/repository/tags', () => asker.delete(`${below}/tags/v1`))
  t.same(silent, [], 'the deletion of a tag is not told')
})

t.test('git push', async t => {
  await app.fastify.listen({ port: 0, host: '127.0.0.1' })
  const project = await app.make.project()
  const { username, privateToken } = project.owner
  const address = `127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}`
  const folder = t.testdir({ work: { README: 'one\n' } })
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', args, { cwd: join(folder, 'work'), env: environment })).stdout.trim()
  await git('init', '--quiet', '--initial-branch=master')
  await git('add', '.')
  await git('commit', '--quiet', '-m', 'One')
  await git('tag', '-a', '-m', 'The first', 'v1')
  await git('tag', 'light')
  await git('remote', 'add', 'origin', `http://${username}:${privateToken}@${address}/${project.path}.git`)
  const head = await git('rev-parse', 'HEAD')

  const pushed = await telling('git push', () => git('push', '--quiet', 'origin', 'master'))
  const push = one(pushed, 'push')
  t.match(push, { before: ZEROS, after: head, checkout_sha: head, ref: 'refs/heads/master', message: null })
  checkPush(t, push, 'push', project)

  const tags = await telling('git push', () => git('push', '--quiet', 'origin', 'v1', 'light'))
  t.equal(tags.length, 2)
  const [annotated, light] = ['refs/tags/v1', 'refs/tags/light'].map(ref => tags.find(told => told.ref === ref))
  t.match(annotated, { event_name: 'tag_push', before: ZEROS, checkout_sha: head, after: await git('rev-parse', 'v1') })
  t.match(annotated?.message, /^The first\n?$/)
  t.match(light, { before: ZEROS, after: head, checkout_sha: head, message: null })
  for (const tag of [annotated, light]) checkPush(t, tag as Payload, 'tag_push', project)

  t.test('the deletion of a branch is an event, the deletion of a tag is not', async t => {
    await git('push', '--quiet', 'origin', 'HEAD:refs/heads/other')
    const told = await telling('git push', () => git('push', '--quiet', 'origin', ':other', ':light'))
    t.equal(told.length, 1)
    t.match(told[0], { event_name: 'push', ref: 'refs/heads/other', before: head, after: ZEROS, checkout_sha: null })
    checkPush(t, told[0] as Payload, 'push', project)
  })
})

t.test('the flags of a hook select pushes and tags only', async t => {
  const { port, received } = await receiver(t, response => response.end())
  const [{ id }] = (
    await admin.post('/hooks', { url: `http://127.0.0.1:${port}/`, push_events: false, tag_push_events: false })
  ).json()
  const project = await app.make.project()
  await app.make.file(project, 'README', 'x')
  await app.runJobs()
  const names = received.map(({ body }) => (JSON.parse(body) as Payload).event_name)
  t.same(new Set(names), new Set(['user_create', 'project_create']))
  await admin.delete(`/hooks/${id}`)
})

t.test('the table of operations lists exactly the emitted events', async t => {
  for (const [operation, events] of Object.entries(operations)) {
    t.same([...(emitted.get(operation as Operation) ?? [])].sort(), [...events].sort(), operation)
  }
  const routes = routesOf(app.fastify).map(({ method, path }) => `${method} ${path.replace('/api/v3', '')}`)
  for (const operation of Object.keys(operations).filter(name => name !== 'git push')) {
    t.ok(routes.includes(operation), `${operation} is a route`)
  }
})

t.test('docs/operate/hooks.md agrees', async t => {
  const page = readFileSync(join(root, 'docs/operate/hooks.md'), 'utf8')
  const codes = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string)
  const tableBelow = (heading: string) =>
    (page.split(`## ${heading}\n`)[1] ?? '')
      .split('\n## ')[0]
      ?.split('\n')
      .filter(line => line.startsWith('| `'))
      .map(line => line.split('|').slice(1, -1)) ?? []

  t.test('about operations, with commands that exist', async t => {
    const rows = tableBelow('Operations and their events')
    t.same(
      Object.fromEntries(rows.map(([operation = '', , events = '']) => [codes(operation)[0], codes(events)])),
      operations
    )
    const known = new Set(commands.map(({ words }) => words.join(' ')))
    for (const command of rows.flatMap(([, commands = '']) => codes(commands))) {
      t.ok(known.has(command), `${command} is a command`)
    }
  })

  t.test('about events, with all their fields', async t => {
    const rows = tableBelow('The events')
    const told = Object.fromEntries(rows.map(([event = '', , fields = '']) => [codes(event)[0], codes(fields)]))
    const emitted: string[] = SYSTEM_HOOK_EVENTS.filter(event => operationsOf(event).length > 0)
    const others: string[] = SYSTEM_HOOK_EVENTS.filter(event => operationsOf(event).length === 0)
    t.same(Object.keys(told).sort(), emitted.sort())
    for (const [event, fields] of Object.entries(told)) {
      t.same([...(fields as string[])].sort(), Object.keys(samples.get(event) ?? {}).sort(), event)
    }
    t.same(others, [], 'every event is emitted')
  })
})

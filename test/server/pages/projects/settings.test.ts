// The settings of projects and groups, as a browser without script uses them.
import { row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { newKey } from '../../../helpers/ssh-keys.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const HOSTILE = '"><script>alert(1)</script>'

const signedIn = async (user: { username: string; password: string }) => {
  const browser = new Browser(base)
  await browser.signIn(user)
  return browser
}

const [ada, mia, admin] = [await app.make.user(), await app.make.user(), await app.make.user({ admin: true })]
const [asAda, asMia, asAdmin] = [await signedIn(ada), await signedIn(mia), await signedIn(admin)]
const project = await app.make.project({ owner: ada, visibility_level: 0, name: 'engine' })
await app.make.member(project, 40, mia)
await app.make.file(project, 'a.txt', 'a')
const api = app.as(ada)
const record = async () => (await api.get(`/projects/${project.id}`)).json()
const SETTINGS = `/${project.path}/settings`

t.test('the form shows and changes what the API does', async t => {
  const page = await asAda.get(SETTINGS)
  t.match((await asAda.get(`/${project.path}`)).body, `href="${SETTINGS}"`, 'the menu leads there')
  const sent = await asAda.submit(page, 'name="visibility_level"', {
    ...{ name: 'Engine 2', description: `${HOSTILE}\r\nLine 2`, visibility_level: '20', snippets_enabled: 'true' },
    ...{ wiki_enabled: 'false', lfs_enabled: 'false', only_allow_merge_if_build_succeeds: 'true' }
  })
  t.match([sent.status, sent.location], [303, `${SETTINGS}?saved=1`])
  t.match(await record(), {
    ...{ name: 'Engine 2', description: `${HOSTILE}\nLine 2`, visibility_level: 20, snippets_enabled: true },
    ...{
      wiki_enabled: false,
      lfs_enabled: false,
      only_allow_merge_if_build_succeeds: true,
      issues_enabled: true,
      default_branch: 'master'
    }
  })
  const after = await asAda.get(`${SETTINGS}?saved=1`)
  t.match(after.body, 'The settings are saved')
  t.notMatch(after.body, '<script>alert')
  const again = await asAda.submit(after, 'name="visibility_level"', { name: 'engine', description: '' })
  t.equal(again.status, 303)
  t.match(await record(), { description: '', snippets_enabled: true, wiki_enabled: false }, 'the rest stays')
})

t.test('a refused value stands in its field again, with the reason', async t => {
  const page = await asAda.get(SETTINGS)
  const sent = await asAda.submit(page, 'name="visibility_level"', { default_branch: HOSTILE, description: 'Kept' })
  t.equal(sent.status, 400)
  t.match(sent.body, 'id="default_branch-error">does not exist')
  t.match(sent.body, 'Kept</textarea>')
  t.notMatch(sent.body, '<script>alert')
  const path = await asAda.submit(page, '/settings/path', { path: 'a b' })
  t.equal(path.status, 400)
  t.match(path.body, /value="a b"[^>]*>\s*<p class="error" id="path-error">/)
})

t.test('settings that somebody else changed in the meantime are not overwritten', async t => {
  const page = await asAda.get(SETTINGS)
  await api.put(`/projects/${project.id}`, { description: 'Newer' })
  const stale = await asAda.submit(page, 'name="visibility_level"', { description: 'Mine' })
  t.equal(stale.status, 409)
  t.match(stale.body, 'Somebody changed these settings')
  t.equal((await record()).description, 'Newer')
  t.equal((await asAda.submit(stale, 'name="visibility_level"', { description: 'Mine' })).status, 303)
  t.equal((await record()).description, 'Mine')
})

t.test('a master changes the settings, but neither name nor visibility', async t => {
  const page = await asMia.get(SETTINGS)
  t.equal(page.status, 200)
  for (const field of [
    'name="name"',
    'visibility_level',
    '/settings/archive',
    '/settings/delete',
    '/settings/transfer'
  ]) {
    t.notMatch(page.body, field)
  }
  t.equal((await asMia.submit(page, 'name="description"', { description: 'By Mia' })).status, 303)
  t.equal((await record()).description, 'By Mia')
  const now = await asMia.get(SETTINGS)
  t.equal((await asMia.submit(now, 'name="description"', { visibility_level: '0' })).status, 403)
  const token = { authenticity_token: /name="authenticity_token" value="([^"]*)/.exec(now.body)?.[1] ?? '' }
  for (const [action, values] of [
    ['archive', {}],
    ['delete', { confirmation: project.path }],
    ['transfer', { group: 'x' }]
  ] as const) {
    t.equal((await asMia.post(`${SETTINGS}/${action}`, { ...token, ...values })).status, 403, action)
  }
  t.match(await record(), { visibility_level: 20, archived: false })
})

t.test('a branch is protected, opened to developers, and unprotected', async t => {
  await app.make.branch(project, 'release/1')
  const branches = await asMia.get(`/${project.path}/branches`)
  const sent = await asMia.submit(branches, 'value="release/1"')
  t.match([sent.status, sent.location], [303, `${SETTINGS}/branches`])
  const branch = async () => (await api.get(`/projects/${project.id}/repository/branches/release%2F1`)).json()
  t.match(await branch(), { protected: true, developers_can_push: false })
  const rules = await asMia.get(`${SETTINGS}/branches`)
  await asMia.submit(rules, 'value="release/1"', { developers_can_push: 'true' })
  t.match(await branch(), { protected: true, developers_can_push: true, developers_can_merge: false })
  const unknown = await asMia.submit(rules, 'id="branch"', { branch: HOSTILE })
  t.equal(unknown.status, 400)
  t.match(unknown.body, 'id="branch-error">does not exist')
  t.notMatch(unknown.body, '<script>alert')
  await asMia.submit(rules, 'Unprotect release/1')
  t.match(await branch(), { protected: false })
})

t.test('a deploy key is added and removed', async t => {
  const page = await asMia.get(`${SETTINGS}/deploy_keys`)
  const bad = await asMia.submit(page, 'id="key"', { title: HOSTILE, key: 'no key' })
  t.equal(bad.status, 400)
  t.match(bad.body, /id="key-error">The key .+/)
  t.notMatch(bad.body, '<script>alert')
  t.equal((await asMia.submit(page, 'id="key"', { title: HOSTILE, key: newKey(), can_push: 'true' })).status, 303)
  const keys = () => api.get(`/projects/${project.id}/deploy_keys`)
  t.match((await keys()).json(), [{ title: HOSTILE, can_push: true }])
  const shown = await asMia.get(`${SETTINGS}/deploy_keys`)
  t.notMatch(shown.body, '<script>alert')
  await asMia.submit(shown, 'Remove the key')
  t.same((await keys()).json(), [])
})

t.test('a hook is added, changed without losing its secrets, and deleted', async t => {
  const page = await asMia.get(`${SETTINGS}/hooks`)
  const bad = await asMia.submit(page, 'id="url"', { url: 'javascript:alert(1)' })
  t.equal(bad.status, 400)
  t.match(bad.body, 'id="url-error"')
  const values = { url: 'https://user:password@ci.example.org/x', token: 'secret', issues_events: 'true' }
  t.equal((await asMia.submit(page, 'id="url"', values)).status, 303)
  const hooks = async () => (await api.get(`/projects/${project.id}/hooks`)).json()
  const [hook] = await hooks()
  t.match(hook, { issues_events: true, push_events: true, note_events: false, enable_ssl_verification: true })
  const one = `${SETTINGS}/hooks/${hook.id}`
  const form = await asMia.get(one)
  t.match(form.body, 'redacted@ci.example.org')
  for (const secret of ['user:password', '"secret"']) t.notMatch(form.body, secret)
  t.equal((await asMia.submit(form, 'id="url"', { push_events: 'false' })).status, 303)
  const stored = () =>
    row<{ url: string; token: number }>('select url, token_encrypted is not null as token from hooks where id = ?', [
      hook.id
    ])
  t.match(await stored(), { url: values.url, token: 1 })
  t.match(await hooks(), [{ push_events: false, issues_events: true }])
  await asMia.submit(form, 'id="url"', { url: 'https://ci.example.org/', without_token: 'true' })
  t.match(await stored(), { url: 'https://ci.example.org/', token: 0 })
  await asMia.submit(await asMia.get(`${SETTINGS}/hooks`), 'Delete the hook')
  t.same(await hooks(), [])
})

t.test('a variable is added, changed in one of its scopes, and deleted', async t => {
  const page = await asMia.get(`${SETTINGS}/variables`)
  const bad = await asMia.submit(page, 'id="key"', { key: HOSTILE, value: 'x', environment_scope: '*' })
  t.equal(bad.status, 400)
  t.match(bad.body, 'id="key-error"')
  t.notMatch(bad.body, '<script>alert')
  for (const scope of ['*', 'review/*']) {
    const values = { key: 'TOKEN', value: 'one\r\ntwo', environment_scope: scope, protected: 'true' }
    t.equal((await asMia.submit(page, 'id="key"', values)).status, 303)
  }
  const variables = async () => (await api.get(`/projects/${project.id}/variables`)).json()
  t.match(await variables(), [{ value: 'one\ntwo', masked: false, protected: true }, { environment_scope: 'review/*' }])
  const form = await asMia.get(`${SETTINGS}/variables/TOKEN?scope=review%2F*`)
  t.match(form.body, 'one\ntwo</textarea>')
  t.equal((await asMia.submit(form, 'id="value"', { value: 'long-secret', protected: 'false' })).status, 303)
  t.match(await variables(), [
    { environment_scope: '*', value: 'one\ntwo', protected: true },
    { environment_scope: 'review/*', value: 'long-secret', masked: true, protected: false }
  ])
  const taken = await asMia.submit(form, 'id="value"', { value: 'x', environment_scope: '*' })
  t.equal(taken.status, 400)
  t.match(taken.body, 'Another variable has this key')
  const list = await asMia.get(`${SETTINGS}/variables`)
  t.equal((await asMia.submit(list, 'name="scope" value="*"')).status, 303)
  t.match(await variables(), [{ environment_scope: 'review/*' }])
  t.equal((await variables()).length, 1)
})

t.test('runners: paused, used by two projects, removed', async t => {
  const { runners_token: token } = await record()
  const payload = { token, description: HOSTILE, tag_list: 'a' }
  await app.fastify.inject({ method: 'POST', url: '/ci/api/v1/runners/register', payload })
  const page = await asAda.get(`${SETTINGS}/runners`)
  t.match(page.body, token)
  t.notMatch(page.body, '<script>alert')
  const runner = async () => (await api.get(`/projects/${project.id}/runners?scope=specific`)).json()
  const [{ id }] = await runner()
  await asAda.submit(page, `/runners/${id}/pause`)
  t.match(await runner(), [{ active: false }])
  await asAda.submit(await asAda.get(`${SETTINGS}/runners`), `/runners/${id}/resume`)
  t.match(await runner(), [{ active: true }])
  const last = await asAda.submit(page, `/runners/${id}/disable`)
  t.equal(last.status, 400)
  t.match(last.body, /role="alert">.*remove the runner instead/)
  const other = await app.make.project({ owner: ada })
  const there = `/${other.path}/settings/runners`
  t.equal((await asAda.submit(await asAda.get(there), 'name="runner_id"', { runner_id: String(id) })).status, 303)
  await asAda.submit(page, `/runners/${id}/disable`)
  t.same(await runner(), [])
  await asAda.submit(await asAda.get(there), `/runners/${id}/remove`)
  t.equal((await api.get(`/runners/${id}`)).statusCode, 404)
})

t.test('a trigger is added and deleted', async t => {
  const triggers = async () => (await api.get(`/projects/${project.id}/triggers`)).json()
  await asMia.submit(await asMia.get(`${SETTINGS}/triggers`), 'Add a trigger')
  const [{ token }] = await triggers()
  const page = await asMia.get(`${SETTINGS}/triggers`)
  t.match(page.body, token)
  await asMia.submit(page, `name="token" value="${token}"`)
  t.same(await triggers(), [])
})

t.test('archive, a new path, a move, and the end', async t => {
  await asAda.submit(await asAda.get(SETTINGS), '/settings/archive')
  t.match(await record(), { archived: true })
  await asAda.submit(await asAda.get(SETTINGS), '/settings/unarchive')
  t.match(await record(), { archived: false })
  const renamed = await asAda.submit(await asAda.get(SETTINGS), '/settings/path', { path: 'motor' })
  t.match([renamed.status, renamed.location], [303, `/${ada.username}/motor/settings`])
  t.equal((await asAda.get(SETTINGS)).status, 302, 'the old path leads there')
  const group = await app.make.group({ owner: ada, visibilityLevel: 20 })
  const page = await asAdmin.get(`/${ada.username}/motor/settings`)
  t.match((await asAdmin.submit(page, '/settings/transfer', { group: 'nowhere' })).body, 'no group has this path')
  const moved = await asAdmin.submit(page, '/settings/transfer', { group: group.path })
  t.match([moved.status, moved.location], [303, `/${group.path}/motor/settings`])
  const end = await asAda.get(`/${group.path}/motor/settings`)
  const unsure = await asAda.submit(end, '/settings/delete', { confirmation: 'motor' })
  t.equal(unsure.status, 400)
  t.match(unsure.body, /<details open>\s*<summary>Delete this project/)
  t.equal((await api.get(`/projects/${project.id}`)).statusCode, 200)
  t.equal((await asAda.submit(end, '/settings/delete', { confirmation: `${group.path}/motor` })).status, 303)
  t.equal((await api.get(`/projects/${project.id}`)).statusCode, 404)
})

t.test('a group: its settings, its path, its end', async t => {
  const group = await app.make.group({ owner: ada, visibilityLevel: 20 })
  await app.make.project({ owner: ada, group, name: 'inside' })
  const settings = `/groups/${group.path}/settings`
  const get = async () => (await api.get(`/groups/${group.id}`)).json()
  t.match((await asAda.get(`/groups/${group.path}`)).body, `href="${settings}"`)
  t.equal((await asMia.get(settings)).status, 404)
  t.notMatch((await asMia.get(`/groups/${group.path}`)).body, settings)
  const page = await asAda.get(settings)
  const values = { name: HOSTILE, description: 'What for', request_access_enabled: 'true' }
  t.equal((await asAda.submit(page, 'name="visibility_level"', values)).status, 303)
  t.match(await get(), { name: HOSTILE, description: 'What for', request_access_enabled: true })
  t.equal((await asAda.submit(page, 'name="visibility_level"', { description: 'Old' })).status, 409)
  t.equal((await get()).description, 'What for')
  t.notMatch((await asAda.get(settings)).body, '<script>alert')
  t.equal((await asAda.submit(page, '/settings/path', { path: 'explore' })).status, 400)
  const moved = await asAda.submit(page, '/settings/path', { path: `${group.path}-2` })
  t.match([moved.status, moved.location], [303, `/groups/${group.path}-2/settings`])
  const end = await asAda.get(moved.location ?? '')
  t.equal((await asAda.submit(end, '/settings/delete', { confirmation: 'x' })).status, 400)
  t.equal((await asAda.submit(end, '/settings/delete', { confirmation: `${group.path}-2` })).status, 303)
  t.equal((await api.get(`/groups/${group.id}`)).statusCode, 404)
})

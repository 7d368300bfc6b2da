// Versions of resources: a directory does not overwrite what it has not seen, and does not read again what it has.

import { blockUser } from '../../../../src/areas/people/users/user-state.js'
import { deleteUser } from '../../../../src/areas/upkeep/removal/user-deletion.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { directory, patch } from './directory.js'

const app = await testApp(t)
const ask = await directory(app)
let made = 0

const newUser = async () => {
  const name = `versioned${++made}@example.com`
  return (await ask('POST', '/Users', { userName: name, externalId: name })).body.id
}
const newGroup = async (...ids: string[]) => {
  const body = { displayName: `Versions ${++made}`, members: ids.map(value => ({ value })) }
  return (await ask('POST', '/Groups', body)).body.id
}
const tagOf = async (path: string) => (await ask('GET', path)).headers.etag as string
const ifMatch = (tag: string) => ({ 'if-match': tag })

t.test('each answer with one resource has its version', async t => {
  const made = await ask('POST', '/Users', { userName: 'tagged@example.com' })
  const path = `/Users/${made.body.id}`
  const tag = made.headers.etag as string
  t.match(tag, /^W\/"[\w-]{22}"$/)
  t.match(made.body.meta, { version: tag })
  const read = await ask('GET', path)
  t.match([read.headers.etag, read.body.meta], [tag, { version: tag }])
  const query = `filter=${encodeURIComponent('userName eq "tagged@example.com"')}`
  t.match((await ask('GET', `/Users?${query}`)).body.Resources, [{ meta: { version: tag } }])
  t.match((await ask('GET', `/Users?${query}&attributes=meta.version`)).body.Resources, [{ meta: { version: tag } }])
  const changed = await patch(ask, path, { op: 'replace', path: 'displayName', value: 'New' })
  t.not(changed.headers.etag, tag)
  t.equal(await tagOf(path), changed.headers.etag)
  const group = `/Groups/${await newGroup(made.body.id)}`
  const whole = await ask('GET', group)
  t.match(whole.body.meta, { version: whole.headers.etag })
  t.match((await ask('GET', `${group}?excludedAttributes=members`)).body.meta, { version: whole.headers.etag })
})

t.test('a change of another version is refused with 412 and changes nothing', async t => {
  const [id, other] = [await newUser(), await newUser()]
  const paths = [`/Users/${id}`, `/Groups/${await newGroup(other)}`]
  for (const path of paths) {
    const old = await tagOf(path)
    await patch(ask, path, { op: 'replace', path: 'displayName', value: `Second ${path}` })
    const now = await tagOf(path)
    const body = (await ask('GET', path)).body
    for (const method of ['PUT', 'DELETE'] as const) {
      const refused = await ask(
        method,
        path,
        method === 'PUT' ? { ...body, displayName: 'x' } : undefined,
        ifMatch(old)
      )
      t.match([refused.status, refused.body], [412, { status: '412', schemas: [/Error$/] }], `${method} ${path}`)
    }
    const operations = { Operations: [{ op: 'replace', path: 'displayName', value: 'x' }] }
    t.equal((await ask('PATCH', path, operations, ifMatch(`${old}, W/"x"`))).status, 412)
    t.equal(await tagOf(path), now)
    for (const tag of [`W/"x", ${now}`, '*']) {
      const value = `Third ${tag.length} ${path}`
      const right = { Operations: [{ op: 'replace', path: 'displayName', value }] }
      t.equal((await ask('PATCH', path, right, ifMatch(tag))).status, 200, tag)
    }
    t.equal((await ask('DELETE', path, undefined, ifMatch(await tagOf(path)))).status, 204)
    t.equal((await ask('DELETE', path, undefined, ifMatch('*'))).status, 404)
  }
})

t.test('of two changes of one version at once, one is made', async t => {
  for (const path of [`/Users/${await newUser()}`, `/Groups/${await newGroup()}`]) {
    const tag = ifMatch(await tagOf(path))
    const change = (value: string) =>
      ask('PATCH', path, { Operations: [{ op: 'replace', path: 'displayName', value }] }, tag)
    const answers = await Promise.all([change(`One ${path}`), change(`Two ${path}`)])
    t.same(answers.map(({ status }) => status).sort(), [200, 412], path)
  }
})

t.test('a known version is answered without a body, until something changes that the directory sees', async t => {
  const [id, member] = [await newUser(), await newUser()]
  const group = await newGroup(member)
  const [user, groups] = [`/Users/${id}`, `/Groups/${group}`]
  const states: Record<string, string> = {}
  /** Reads both with the known versions. Returns which of them have others now. */
  const changed = async () => {
    const found: string[] = []
    for (const path of [user, groups]) {
      const answer = await ask('GET', path, undefined, { 'if-none-match': states[path] ?? 'W/"none"' })
      if (answer.status === 304) t.match([answer.body, answer.headers.etag], [{}, states[path]])
      else found.push(path)
      states[path] = answer.headers.etag as string
    }
    return found
  }
  t.same(await changed(), [user, groups])
  t.same(await changed(), [])
  await patch(ask, groups, { op: 'add', path: 'members', value: [{ value: id }] })
  t.same(await changed(), [user, groups], 'a new member')
  await patch(ask, groups, { op: 'replace', path: 'displayName', value: 'Renamed' })
  t.same(await changed(), [user, groups], 'the name of the group')
  await patch(ask, user, { op: 'replace', path: 'userName', value: 'renamed@example.com' })
  t.same(await changed(), [user, groups], 'the name of the user')
  await patch(ask, user, { op: 'replace', path: 'name.givenName', value: 'Ada' })
  t.same(await changed(), [user], 'what only the user shows')
  await blockUser(Number(id), someOrigin)
  t.same(await changed(), [user], 'a block by an administrator')
  await ask('DELETE', `/Users/${member}`)
  t.same(await changed(), [groups], 'a user whom the directory has deleted')
  await deleteUser(Number(id), someOrigin)
  const after = await ask('GET', groups, undefined, { 'if-none-match': states[groups] ?? '' })
  t.match([after.status, after.body], [200, { members: [] }], 'a user who was deleted here')
})

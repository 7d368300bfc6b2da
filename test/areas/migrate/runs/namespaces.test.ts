// Who and what of a hostile source becomes which user and group here.
import { openNamespaces } from '../../../../src/areas/migrate/runs/namespaces.js'
import { type PeopleOptions, resolvePeople } from '../../../../src/areas/migrate/runs/people.js'
import type { Session } from '../../../../src/areas/migrate/runs/session.js'
import { newUnreadable } from '../../../../src/areas/migrate/runs/skips.js'
import type { Source, SourceGroup, SourceProject, SourceUser } from '../../../../src/areas/migrate/sources/source.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { testDatabase } from '../../../helpers/database.js'
import { someOrigin } from '../../../helpers/factory.js'
import { newKey } from '../../../helpers/ssh-keys.js'
import t from '../../../helpers/tap.js'

await testDatabase()
const app = await testApp(t)

const group = (path: string, owner: string): SourceGroup => ({
  ...{ path, name: path, description: null, visibility: 'private' },
  members: [{ username: owner, level: 50 }]
})
const projectAt = (path: string) => ({ path }) as SourceProject
const sourceOf = (groups: readonly SourceGroup[], user: SourceUser | null = null) =>
  ({
    user: async () => user,
    groups: async function* () {
      yield* groups
    }
  }) as unknown as Source

t.test('two groups of a source with the same path here stay apart', async t => {
  const [ada, mallory] = [await app.make.user(), await app.make.user()]
  const people = { ada: ada.username, mallory: mallory.username }
  const migration = { folder: t.testdir(), map: {}, people, keys: false }
  const about = { migration, place: 'groups.example.com', unreadable: newUnreadable() }
  const session = { ...about, origin: someOrigin } as unknown as Session
  const source = sourceOf([group('acme-secret', 'ada'), group('acme/secret', 'mallory')])
  for (const what of ['the first run', 'a later run']) {
    const namespaces = await openNamespaces(session, source, () => undefined)
    t.equal((await namespaces.of(projectAt('acme-secret/plans'))).namespace, 'acme-secret', what)
    await t.rejects(
      namespaces.of(projectAt('acme/secret/mine')),
      { message: /^the namespace acme-secret exists here/ },
      what
    )
  }
  const members = await rows<{ username: string }>(
    `select u.username from members m join users u on u.id = m.user_id join namespaces n on n.id = m.source_id
     where m.source_type = 'namespace' and n.path = 'acme-secret'`
  )
  t.same(members, [{ username: ada.username }])
})

t.test(
  'an address that nobody has proved at the source matches nobody unless the sysadmin trusts it, and brings no SSH key',
  async t => {
    const victim = await app.make.user()
    const keysOf = () => rows('select id from ssh_keys where user_id = ?', [victim.id])
    const resolve = async (place: string, more: Partial<SourceUser>, options: Partial<PeopleOptions> = {}) => {
      const keys = [{ title: 'laptop', key: newKey() }]
      const source = sourceOf([], { username: 'mallory', name: 'Mallory', email: victim.email, keys, ...more })
      const all = { place, given: {}, keys: true, trust: false, unreadable: () => {}, ...options }
      return (await resolvePeople(source, new Set(['mallory']), all, someOrigin)).get('mallory')
    }
    const open = { isVerified: false }
    t.not(await resolve('open.example.com', open), victim.username)
    t.match(await rows('select email, is_placeholder from migrated_people where source = ?', ['open.example.com']), [
      { email: null, is_placeholder: 1 }
    ])
    t.equal(await resolve('trusted.example.com', open, { trust: true }), victim.username)
    t.equal((await keysOf()).length, 0)
    t.equal(await resolve('verified.example.com', {}), victim.username)
    t.equal((await keysOf()).length, 1, 'a proved address brings it')
    t.equal(await resolve('named.example.com', open, { given: { mallory: victim.username } }), victim.username)
    t.equal((await keysOf()).length, 2, 'and so does the sysadmin')
  }
)

t.test(
  'references lead to personal projects of people whose names differ here, also before these projects come',
  async t => {
    const robert = await app.make.user()
    const place = 'personal.example.com'
    const sql = 'insert into migrated_people (source, username, user_id, created_at) values (?, ?, ?, ?)'
    await execute(sql, [place, 'bob', robert.id, new Date()])
    const migration = { folder: t.testdir(), map: { team: 'crew' }, people: {}, keys: false }
    const session = { migration, place, unreadable: newUnreadable(), origin: someOrigin } as unknown as Session
    const { pathOf } = await openNamespaces(session, sourceOf([]), () => undefined)
    t.same(
      ['Bob/tool', 'team/tool', 'eve/tool'].map(path => pathOf(path)),
      [`${robert.username}/tool`, 'crew/tool', 'eve/tool']
    )
  }
)

// Rules about one record, with actions that the test adds to the table: for the users whom the record names, members of
// its project with at least some level, and administrators.
import { type ActionOn, abilities } from '../../src/access/abilities.js'
import { type Actor, actorOf, nobody } from '../../src/access/actor.js'
import type { ProjectAccess } from '../../src/access/authorize.js'
import { authorizeRecord } from '../../src/access/records.js'
import { MASTER, REPORTER } from '../../src/lib/levels.js'
import t from '../helpers/tap.js'

const someone = (id: number, admin = false): Actor =>
  actorOf({ id, username: `u${id}`, name: '', email: '', admin, external: false }, 'private')

const project = (access_level: number): ProjectAccess => ({
  visibility_level: 0,
  access_level,
  archived: false,
  public_builds: true,
  namespace_owner_id: 9,
  issues_enabled: true,
  merge_requests_enabled: true,
  builds_enabled: true,
  wiki_enabled: true,
  snippets_enabled: true
})

for (const refusal of ['forbidden', 'missing', 'unauthorized']) {
  const by = ['author', 'assignee']
  Object.assign(abilities, { [`test.${refusal}`]: { on: 'record', by, least: MASTER, refusal } })
}
const edit = (actor: Actor, refusal: string, level = REPORTER) => {
  const action = `test.${refusal}` as ActionOn<'record'>
  return () => authorizeRecord(actor, action, { author: 1, assignee: 2, owner: 3, project: project(level) }, 'Note')
}

t.test('the users whom the record names, masters and administrators may edit it', async t => {
  t.doesNotThrow(edit(someone(1), 'forbidden'), 'the author')
  t.doesNotThrow(edit(someone(2), 'forbidden'), 'the assignee')
  t.doesNotThrow(edit(someone(5), 'forbidden', MASTER), 'a master')
  t.doesNotThrow(edit(someone(9), 'forbidden'), 'the owner of the namespace')
  t.doesNotThrow(edit(someone(6, true), 'forbidden'), 'an administrator')
})

t.test('others get the refusal that the action names', async t => {
  t.throws(edit(someone(3), 'forbidden'), { name: 'Forbidden' }, 'an owner whom the action does not name')
  t.throws(edit(someone(5), 'missing'), { name: 'NotFound', message: '404 Note Not Found' })
  t.throws(edit(someone(5), 'unauthorized'), { name: 'Unauthorized' })
  t.throws(edit(nobody, 'forbidden'), { name: 'Unauthorized' })
})

t.test('nobody counts as the author of a record without one', async t => {
  const action = 'test.forbidden' as ActionOn<'record'>
  t.throws(() => authorizeRecord(someone(0), action, { author: null }), { name: 'Forbidden' })
})

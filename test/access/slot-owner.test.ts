import { nobody, slotOwner } from '../../src/access/actor.js'
import { requestScope } from '../../src/lib/request-scope.js'
import t from '../helpers/tap.js'

t.test('a user, or all addresses of one network together, own the slots of git', async t => {
  const ada = { id: 7, username: 'ada', name: 'Ada', email: 'ada@example.org', admin: false, external: false }
  const owners = requestScope.run({ request: 'r', client: '2001:db8:0:1::/64' }, () => [
    slotOwner(nobody),
    slotOwner({ ...nobody, user: ada })
  ])
  t.same(owners, ['address 2001:db8:0:1::/64', 'user 7'])
})

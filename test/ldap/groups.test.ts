import { once } from 'node:events'
import { createServer } from 'node:net'
import { LDAP_DEFAULTS, type LdapSettings } from '../../src/config/ldap.js'
import { withDirectory } from '../../src/ldap/connection.js'
import type { Directory } from '../../src/ldap/directory.js'
import { grantsIn } from '../../src/ldap/grants.js'
import { groupsOf } from '../../src/ldap/groups.js'
import type { DirectoryPerson } from '../../src/ldap/person.js'
import { testDirectory } from '../helpers/slapd.js'
import t from '../helpers/tap.js'

const server = await testDirectory(t)
const { suffix } = server
const ada = await server.addPerson('ada')

const defaults = LDAP_DEFAULTS as Omit<LdapSettings, 'urls' | 'base'>
const directory = (nested: 'no' | 'walk' | 'rule', settings: Partial<LdapSettings> = {}): Directory => ({
  ...defaults,
  name: 'groups',
  urls: [server.secure],
  ca: server.ca,
  bind_dn: server.root.dn,
  bind_password: server.root.password,
  base: `ou=people,${suffix}`,
  groups: { ...defaults.groups, base: `ou=groups,${suffix}`, nested },
  ...settings
})

const person = (values: Partial<DirectoryPerson> = {}): DirectoryPerson => ({
  dn: ada,
  uid: 'x',
  username: 'ada',
  name: 'Ada',
  email: null,
  sshKeys: null,
  disabled: false,
  memberOf: null,
  ...values
})

const find = (asked: Directory, who = person()) =>
  withDirectory(asked, connection => groupsOf(connection, asked, who, new Map()))

t.test('groups name their members by DN, by unique member, or by username', async t => {
  const group = (cn: string) => `cn=${cn},ou=groups,${suffix}`
  await server.addGroup('by-dn', [ada])
  await server.add(group('unique'), { objectClass: 'groupOfUniqueNames', cn: 'unique', uniqueMember: ada })
  await server.add(group('posix'), { objectClass: 'posixGroup', cn: 'posix', gidNumber: '1', memberUid: 'ada' })
  await server.add(group('other'), { objectClass: 'posixGroup', cn: 'other', gidNumber: '2', memberUid: 'a*' })
  t.strictSame([...((await find(directory('no'))) ?? [])].sort(), [group('by-dn'), group('posix'), group('unique')])
  t.strictSame(
    await find(directory('no'), person({ dn: 'uid=*', username: '*' })),
    new Set(),
    'no character is special'
  )
})

t.test('a group that the directory names but does not show is a group too', async t => {
  const hidden = `cn=Hidden,ou=nowhere,${suffix}`
  const attributes = { ...defaults.attributes, member_of: 'memberOf' }
  const found = await find(directory('walk', { attributes }), person({ memberOf: [hidden] }))
  t.strictSame(found, new Set([hidden.toLowerCase()]))
})

t.test('somebody in too many groups gets an answer, and no part of it', async t => {
  const memberOf = Array.from({ length: 2001 }, (_, at) => `cn=${at},ou=groups,${suffix}`)
  t.equal(await find(directory('no'), person({ memberOf })), null)
})

t.test('the highest level of a group counts, and groups without a line give nothing', async t => {
  const [web, lead] = [`cn=web,ou=groups,${suffix}`, `cn=lead,ou=groups,${suffix}`]
  const members = [`${web} -> acme as developer`, `${lead} -> acme as master`, `${lead} -> acme/deep.er as owner`]
  const mapped = directory('no', { groups: { ...defaults.groups, members, admin: lead } })
  t.strictSame(grantsIn(mapped, new Set([web, lead])), {
    admin: true,
    external: undefined,
    groups: new Map([
      ['acme', 40],
      ['acme/deep.er', 50]
    ])
  })
  t.strictSame(grantsIn(mapped, new Set([`cn=x,${suffix}`])), { admin: false, external: undefined, groups: new Map() })
})

t.test('Active Directory is asked to follow the groups itself', async t => {
  // OpenLDAP does not know the rule, so a server that only listens shows the question.
  const answer = (id: number, tag: number) => Buffer.from([0x30, 12, 2, 1, id, tag, 7, 10, 1, 0, 4, 0, 4, 0])
  let asked = ''
  const listener = createServer(socket => {
    let id = 1
    socket.on('error', () => undefined)
    socket.on('data', chunk => {
      asked += chunk.toString('latin1')
      id += 1
      socket.write(answer(id, id === 2 ? 0x61 : 0x65))
    })
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => listener.close())
  const address = listener.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const found = await find(directory('rule', { urls: [`ldap://localhost:${port}`], starttls: false }))
  t.strictSame(found, new Set())
  t.ok(asked.includes('1.2.840.113556.1.4.1941'))
  t.ok(asked.includes(ada))
})

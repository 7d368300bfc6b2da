// Entries as other directories have them: Active Directory with its binary ids, and values that make no sense.
import { LDAP_DEFAULTS, type LdapSettings } from '../../src/config/ldap.js'
import { withDirectory } from '../../src/ldap/connection.js'
import type { Directory } from '../../src/ldap/directory.js'
import { sameDn } from '../../src/ldap/dn.js'
import { entriesOf, findEntries } from '../../src/ldap/people.js'
import { type DirectoryPerson, idValues, personOf } from '../../src/ldap/person.js'
import { testDirectory } from '../helpers/slapd.js'
import t from '../helpers/tap.js'

const directory = (settings: Partial<LdapSettings> = {}): Directory => ({
  ...(LDAP_DEFAULTS as Omit<LdapSettings, 'urls' | 'base'>),
  name: 'active',
  urls: ['ldaps://localhost'],
  base: 'dc=example,dc=org',
  ...settings
})

t.test('Active Directory: ids of 16 bytes, and accounts that are switched off', async t => {
  const server = await testDirectory(t, { active: true })
  const asked = directory({
    urls: [server.secure],
    ca: server.ca,
    bind_dn: server.root.dn,
    bind_password: server.root.password,
    filter: '(objectClass=inetOrgPerson)',
    attributes: {
      id: 'objectGUID',
      username: 'sAMAccountName',
      name: 'displayName',
      email: 'mail',
      member_of: 'memberOf',
      ssh_keys: null
    }
  })
  const bytes = Buffer.from('00112233445566778899aabbccddeeff', 'hex')
  const dn = `cn=Ada,ou=people,${server.suffix}`
  await server.add(dn, {
    objectClass: ['inetOrgPerson', 'extensibleObject'],
    cn: 'Ada',
    sn: 'Lovelace',
    objectGUID: bytes,
    sAMAccountName: 'ada',
    displayName: 'Ada Lovelace',
    mail: 'ada@example.org',
    userAccountControl: '512',
    memberOf: `cn=web,ou=groups,${server.suffix}`
  })
  const read = () =>
    withDirectory(asked, async connection => {
      const [entry] = await findEntries(connection, asked, 'ada')
      return entry ? personOf(entry, asked) : 'no entry'
    })
  const person = (await read()) as DirectoryPerson
  t.match(person, {
    dn,
    uid: '33221100-5544-7766-8899-aabbccddeeff',
    username: 'ada',
    name: 'Ada Lovelace',
    disabled: false,
    memberOf: [`cn=web,ou=groups,${server.suffix}`]
  })
  const found = await withDirectory(asked, connection => entriesOf(connection, asked, [person.uid, 'uid=gone,dc=org']))
  t.strictSame(
    found.map(entry => entry.dn),
    [dn],
    'the id leads back to the entry'
  )
  await server.replace(dn, { userAccountControl: '514' })
  t.match(await read(), { disabled: true })
  await server.replace(dn, { userAccountControl: '512', accountExpires: '133000000000000000' })
  t.match(await read(), { disabled: true }, 'expired in 2022')
  await server.replace(dn, { accountExpires: '9223372036854775807' })
  t.match(await read(), { disabled: false }, 'never expires')
})

t.test('ids keep their bytes', async t => {
  const uidOf = (id: string, value: Buffer | string) => {
    const found = personOf(
      { dn: 'uid=x,dc=org', uid: 'x', [id]: value },
      directory({ attributes: { ...attributes, id } })
    )
    return typeof found === 'string' ? found : found.uid
  }
  const attributes = { ...directory().attributes }
  t.equal(uidOf('entryUUID', Buffer.from('3b9e')), '3b9e')
  t.equal(uidOf('nsUniqueId', Buffer.from([0, 255, 1])), '00ff01')
  t.strictSame(idValues('00ff01', 'nsUniqueId'), [Buffer.from('00ff01'), Buffer.from([0, 255, 1])])
  t.equal(uidOf('entryUUID', ''), 'uid=x,dc=org', 'without an id, the DN is one')
  t.match(uidOf('entryUUID', 'x'.repeat(256)), /more than 255 characters/)
  t.equal(personOf({ dn: 'cn=x' }, directory()), 'it has no uid')
})

t.test('a DN is the same in each spelling, and no two DNs are', async t => {
  const same = [
    'cn=Web Team,ou=groups,dc=example,dc=org',
    'CN = web  team , OU=Groups,DC=example,dc=ORG',
    'cn=web\\20team,ou=groups,dc=example,dc=org'
  ]
  t.equal(new Set(same.map(sameDn)).size, 1, same.map(sameDn).join('\n'))
  const other = [
    'cn=a\\,b,dc=org',
    'cn=a,cn=b,dc=org',
    'cn=a\\+sn=b,dc=org',
    'cn=a+sn=b,dc=org',
    'cn=a\\5cb,dc=org',
    'cn=ab,dc=org'
  ]
  t.equal(new Set(other.map(sameDn)).size, other.length)
  t.equal(sameDn('sn=b+cn=a,dc=org'), sameDn('cn=a+sn=b,dc=org'))
  t.equal(sameDn('cn=\\c3\\a4,dc=org'), sameDn('cn=ä,dc=org'))
})

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareHome } from '../../src/home.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import { testDirectory } from '../helpers/slapd.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
prepareHome()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl, GITSTEAD_PORT: '0' }
const directory = await testDirectory(t)
const { suffix, root } = directory

function configure(settings: Readonly<Record<string, unknown>> = {}): void {
  const company = {
    urls: [directory.secure],
    ca: directory.ca,
    bind_dn: root.dn,
    bind_password: root.password,
    base: `ou=people,${suffix}`,
    ...settings
  }
  writeFileSync(join(home, 'config.yaml'), JSON.stringify({ identity: { ldap: { company } } }))
}
t.teardown(() => rmSync(join(home, 'config.yaml')))

const run = (...args: string[]) => cli(args, { environment })
/** The steps of a check as `step: what it found`, with FAIL and the remedy where there is one. */
async function check(user: string): Promise<string[]> {
  const { code, json } = await run('ldap', 'check', user, '--json')
  const [found] = json().directories as {
    steps: { step: string; ok: boolean; found: string; remedy: string | null }[]
  }[]
  const steps = found?.steps ?? []
  t.equal(code, steps.every(({ ok }) => ok) ? 0 : 1)
  return steps.map(
    ({ step, ok, found: text, remedy }) => `${ok ? '' : 'FAIL '}${step}: ${text}${remedy ? ` -> ${remedy}` : ''}`
  )
}

t.test('ldap check explains each step, and the remedy', async t => {
  const ada = await directory.addPerson('ada', { cn: 'Ada Lovelace' })
  const web = await directory.addGroup('web', [ada])
  const groups = { base: `ou=groups,${suffix}`, members: [`${web} -> web as developer`, `${web} -> lost as guest`] }
  configure({ groups })
  await factory.group({ path: 'web' })
  const id = await directory.idOf(ada)
  t.strictSame(await check('ada'), [
    `connect: ${directory.secure}`,
    'tls: the certificate is valid',
    `bind: ${root.dn}`,
    `search: one entry below ou=people,${suffix}, with (objectClass=person)`,
    `entry: ${ada} is active`,
    `attributes: id ${id}, username ada, name Ada Lovelace, address ada@example.org`,
    `groups: ${web}`,
    'FAIL mapping: Developer in web, Guest in lost; missing here: lost -> create the groups, or correct groups.members',
    'account: none yet: the first sign-in creates it'
  ])
  configure()
  t.match((await check('nobody')).at(-1), /^FAIL search: no entry .* has the name "nobody" -> correct base, filter/)
  t.match((await check('*')).at(-1), /^FAIL search: no entry/)
  await factory.user({ username: 'taken', email: 'ada@example.org' })
  t.equal(
    (await check('ada')).at(-1),
    `FAIL account: taken has the address, and is not linked -> gitstead identities link taken company ${id}`
  )
  t.equal((await run('identities', 'link', 'taken', 'company', id)).code, 0)
  t.equal((await check('ada')).at(-1), 'account: taken, which is active')
  await directory.replace(ada, { objectClass: ['inetOrgPerson', 'shadowAccount'], shadowExpire: '1', mail: [] })
  const off = await check('ada')
  t.match(off[4], /^FAIL entry: .* is switched off -> switch the account on in the directory/)
  t.match(off[5], /^FAIL attributes: .* address none -> add mail to the entry/)
  const text = await run('ldap', 'check', 'ada')
  t.match(text.stdout, /^company\n {2}ok {4}connect .*\n {2}ok {4}tls/)
  t.match(text.stdout, /\n {2}FAIL {2}entry .*\n +remedy: switch/)
  t.equal((await run('ldap', 'check', 'ada', '--directory', 'other')).code, 3)
})

t.test('ldap check and doctor say why a directory cannot be asked', async t => {
  const doctor = async () => {
    const { json } = await run('doctor', '--only', 'directories', '--json')
    const [only] = json().checks as { ok: boolean; found: string; remedy: string | null }[]
    return only
  }
  configure()
  t.match(await doctor(), { ok: true, found: '1 directory answers, and the service account finds people' })
  const cases = [
    [{ bind_password: 'wrong' }, 'bind', /refuses the name or the password/, 'correct bind_dn and bind_password'],
    [{ urls: ['ldaps://localhost:1'] }, 'connect', /ECONNREFUSED/, 'check that the directory runs'],
    [{ ca: null }, 'tls', /self-signed certificate/, 'check ca'],
    [{ base: `ou=nowhere,${suffix}` }, 'search', /there is no such entry/, 'correct base']
  ] as const
  for (const [settings, step, found, remedy] of cases) {
    configure(settings)
    const steps = await check('ada')
    t.match(steps.at(-1), new RegExp(`^FAIL ${step}: .*${found.source}.* -> ${remedy}`))
    t.match(await doctor(), { ok: false, found, remedy: new RegExp(remedy) })
  }
  configure({ filter: '(objectClass=printer)' })
  t.match(await doctor(), { ok: false, found: /there is no entry below/, remedy: /correct base and filter/ })
  configure({ verify: false })
  t.match(await doctor(), { ok: false, found: /are not checked/ })
  rmSync(join(home, 'config.yaml'))
  t.match(await doctor(), { ok: true, found: /not needed/ })
  t.equal((await run('ldap', 'check', 'ada')).stdout, 'identity.ldap has no directories\n')
})

t.test('ldap sync prints what it does', async t => {
  configure({ create: 'sync' })
  await directory.addPerson('grace')
  const dry = await run('ldap', 'sync', '--dry-run')
  t.match(dry, { code: 0, stdout: /company: grace is new\n[\s\S]*dry run: 1 people, 1 created, 0 changed, 1 blocked/ })
  t.match(await run('ldap', 'sync'), { code: 0, stdout: /1 people, 1 created/ })
  t.match(await run('ldap', 'sync', '--json'), { code: 0 })
  configure({ urls: ['ldaps://localhost:1'] })
  t.match(await run('ldap', 'sync'), {
    code: 1,
    stdout: /nobody was blocked. Remedy: .*\nfailed: company: .*ECONNREFUSED/
  })
})

t.test('config check names a wrong key in one line, and config show hides the password', async t => {
  const cases = [
    [{ urls: [] }, 'identity.ldap.company.urls must be a list of URLs such as ldaps://ldap.example.org'],
    [{ urls: ['https://ldap.example.org'] }, 'identity.ldap.company.urls must be a list of URLs'],
    [
      { urls: ['ldap://ldap.example.org'], starttls: false },
      'identity.ldap.company.starttls must be true for ldap://ldap.example.org'
    ],
    [{ bind_password: null }, 'identity.ldap.company.bind_password must be set with bind_dn'],
    [{ filter: '(uid=x' }, 'identity.ldap.company.filter must be a filter in parentheses'],
    [{ filter: '(uid=x)(uid=y)' }, 'identity.ldap.company.filter has unbalanced parentheses'],
    [
      { groups: { members: ['cn=web -> web'] } },
      'identity.ldap.company.groups.members must be a list of texts such as'
    ],
    [{ attributes: { id: 'a b' } }, 'identity.ldap.company.attributes.id must be the name of an attribute'],
    [{ atributes: {} }, 'unknown key identity.ldap.company.atributes'],
    [{ base: undefined }, 'identity.ldap.company.base must be a DN such as']
  ] as const
  for (const [settings, text] of cases) {
    configure(settings)
    const { code, stdout, stderr } = await run('config', 'check')
    t.equal(code, 1, text)
    const lines = `${stdout}${stderr}`
      .trim()
      .split('\n')
      .filter(line => line.includes('identity'))
    t.equal(lines.length, 1, lines.join('\n'))
    t.ok(lines.join().includes(text), lines.join())
  }
  configure()
  const shown = await run('config', 'show')
  t.notMatch(shown.stdout, root.password)
  t.match(shown.stdout, '"bind_password":"redacted"')
})

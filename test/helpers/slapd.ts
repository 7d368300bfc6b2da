// A real OpenLDAP server with an empty directory, dc=example,dc=org, and a certificate for localhost.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Attribute, Change, Client } from 'ldapts'
import { config, loadConfig } from '../../src/config.js'
import { until } from './until.js'

const SUFFIX = 'dc=example,dc=org'
const ROOT = { dn: `cn=root,${SUFFIX}`, password: 'the root of the tree' }

type Values = { readonly [attribute: string]: string | Buffer | readonly (string | Buffer)[] }

interface Test {
  teardown(work: () => unknown): void
}

export interface TestDirectory {
  /** `ldap://` with StartTLS, and `ldaps://`. The certificate is valid for localhost only. */
  readonly plain: string
  readonly secure: string
  /** The file of the certificate that signs itself. */
  readonly ca: string
  readonly suffix: string
  readonly root: typeof ROOT
  add(dn: string, values: Values): Promise<void>
  /** Replaces attributes; an empty list removes one. */
  replace(dn: string, values: Values): Promise<void>
  rename(dn: string, to: string): Promise<void>
  remove(dn: string): Promise<void>
  /** Adds a person to ou=people with the password `the password of UID`, and returns the DN. */
  addPerson(uid: string, values?: Values): Promise<string>
  /** Adds many people on one connection. */
  addPeople(uids: readonly string[]): Promise<string[]>
  /** Adds a group to ou=groups, and returns the DN. */
  addGroup(cn: string, members: readonly string[]): Promise<string>
  /** Returns the entryUUID of an entry. */
  idOf(dn: string): Promise<string>
  /** How many binds the server has answered since the start, as its log has them. */
  binds(): number
  stop(): Promise<void>
  start(): Promise<void>
  /** Returns the URL of a way to the server, without TLS, that breaks after so many bytes of answers. */
  cutAfter(t: Test, bytes: number): Promise<string>
}

export interface DirectoryOptions {
  /** With the attributes of Active Directory, which then are plain values; without it, memberOf follows the groups. */
  readonly active?: boolean
  /** More lines for the configuration of the server, before that of the database. */
  readonly lines?: readonly string[]
}

/** Starts a server until the end of the test. */
export async function testDirectory(t: Test, options: DirectoryOptions = {}): Promise<TestDirectory> {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-slapd-'))
  const [key, ca] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  makeCertificate(key, ca)
  mkdirSync(join(folder, 'db'))
  writeFileSync(join(folder, 'slapd.conf'), configuration(folder, options))
  const [plain, secure] = await freePorts()
  const urls = [`ldap://localhost:${plain}`, `ldaps://localhost:${secure}`] as const
  let [running, log]: [ChildProcess | undefined, string] = [undefined, '']
  const start = async () => {
    const listens = `ldap://127.0.0.1:${plain} ldaps://127.0.0.1:${secure}`
    const server = spawn('/usr/sbin/slapd', ['-f', join(folder, 'slapd.conf'), '-h', listens, '-d', 'stats'])
    server.stderr.on('data', chunk => {
      log += chunk
    })
    running = server
    const ended = once(server, 'exit').then(() => {
      if (running === server) throw new Error(`slapd has ended: ${log.slice(-2000)}`)
    })
    ended.catch(() => undefined)
    await Promise.race([ended, until('slapd listens', () => answers(plain))])
  }
  const stop = async () => {
    const server = running
    running = undefined
    if (!server || server.exitCode !== null) return
    const exit = once(server, 'exit')
    server.kill('SIGKILL')
    await exit
  }
  t.teardown(async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  const as = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
    const client = new Client({ url: urls[0], timeout: 10_000 })
    try {
      await client.bind(ROOT.dn, ROOT.password)
      return await work(client)
    } finally {
      await client.unbind()
    }
  }
  const add = (dn: string, values: Values) =>
    as(client =>
      client.add(
        dn,
        Object.entries(values).map(([type, given]) => attribute(type, given))
      )
    )
  await add(SUFFIX, { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'Example' })
  for (const ou of ['people', 'groups']) await add(`ou=${ou},${SUFFIX}`, { objectClass: 'organizationalUnit', ou })
  return {
    plain: urls[0],
    secure: urls[1],
    ca,
    suffix: SUFFIX,
    root: ROOT,
    add,
    replace: (dn, values) =>
      as(client =>
        client.modify(
          dn,
          Object.entries(values).map(
            ([type, given]) => new Change({ operation: 'replace', modification: attribute(type, given) })
          )
        )
      ),
    rename: (dn, to) => as(client => client.modifyDN(dn, to)),
    remove: dn => as(client => client.del(dn)),
    addPerson: async (uid, values = {}) => {
      await add(dnOf(uid), { ...personOf(uid), ...values })
      return dnOf(uid)
    },
    addPeople: uids =>
      as(async client => {
        for (const uid of uids) {
          await client.add(
            dnOf(uid),
            Object.entries(personOf(uid)).map(([type, given]) => attribute(type, given))
          )
        }
        return uids.map(dnOf)
      }),
    addGroup: async (cn, members) => {
      const dn = `cn=${cn},ou=groups,${SUFFIX}`
      await add(dn, { objectClass: 'groupOfNames', cn, member: members })
      return dn
    },
    idOf: dn =>
      as(async client => {
        const { searchEntries } = await client.search(dn, { scope: 'base', attributes: ['entryUUID'] })
        return String(searchEntries[0]?.entryUUID)
      }),
    binds: () => log.split(/ RESULT tag=97 /).length - 1,
    stop,
    start,
    cutAfter: async (test, bytes) => {
      const proxy = createServer(socket => {
        let passed = 0
        const behind = connect(plain, '127.0.0.1')
        const end = () => {
          socket.destroy()
          behind.destroy()
        }
        for (const one of [socket, behind]) one.on('error', end).on('close', end)
        socket.pipe(behind)
        behind.on('data', chunk => {
          passed += chunk.length
          if (passed > bytes) end()
          else socket.write(chunk)
        })
      })
      await once(proxy.listen(0, '127.0.0.1'), 'listening')
      test.teardown(() => proxy.close())
      const address = proxy.address()
      return `ldap://localhost:${typeof address === 'object' && address ? address.port : 0}`
    }
  }
}

const dnOf = (uid: string) => `uid=${uid},ou=people,${SUFFIX}`

const personOf = (uid: string): Values => ({
  objectClass: 'inetOrgPerson',
  uid,
  cn: uid,
  sn: uid,
  mail: `${uid}@example.org`,
  userPassword: `the password of ${uid}`
})

const attribute = (type: string, given: Values[string]) =>
  new Attribute({ type, values: (Array.isArray(given) ? [...given] : [given]) as string[] })

/** Attributes of Active Directory, which OpenLDAP's own file has without rules for searches. */
const ACTIVE = [
  ['objectGUID', 'octetStringMatch', '40'],
  ['sAMAccountName', 'caseIgnoreMatch', '15'],
  ['userAccountControl', 'integerMatch', '27'],
  ['accountExpires', 'caseIgnoreMatch', '15'],
  ['memberOf', 'distinguishedNameMatch', '12']
].map(
  ([name, rule, syntax], at) =>
    `attributetype ( 1.3.6.1.4.1.99999.1.${at + 1} NAME '${name}' EQUALITY ${rule} SYNTAX 1.3.6.1.4.1.1466.115.121.1.${syntax} )`
)

function configuration(folder: string, { active = false, lines = [] }: DirectoryOptions): string {
  const schemas = ['core', 'cosine', 'inetorgperson', 'nis']
  return [
    ...schemas.map(name => `include /etc/ldap/schema/${name}.schema`),
    'modulepath /usr/lib/ldap',
    'moduleload back_mdb',
    ...(active ? ACTIVE : ['moduleload memberof']),
    `TLSCertificateFile ${folder}/cert.pem`,
    `TLSCertificateKeyFile ${folder}/key.pem`,
    ...lines,
    'database mdb',
    `suffix "${SUFFIX}"`,
    `rootdn "${ROOT.dn}"`,
    `rootpw "${ROOT.password}"`,
    `directory ${folder}/db`,
    'dbnosync',
    'index objectClass,uid,mail,entryUUID eq',
    ...(active ? [] : ['index member eq', 'overlay memberof', 'memberof-refint true']),
    ''
  ].join('\n')
}

function makeCertificate(key: string, cert: string): void {
  const how = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', ['req', '-x509', ...how, ...subject, '-keyout', key, '-out', cert], { stdio: 'pipe' })
}

/** slapd cannot choose its port itself. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()]
  const ports = await Promise.all(
    servers.map(async server => {
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const address = server.address()
      return typeof address === 'object' && address ? address.port : 0
    })
  )
  await Promise.all(servers.map(server => once(server.close(), 'close')))
  return [ports[0] ?? 0, ports[1] ?? 0]
}

const answers = (port: number) =>
  new Promise<boolean>(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy())
  })

/** Configures a directory as identity.ldap.company until the end of the test. */
export function configureDirectory(
  t: Test,
  { secure, ca, suffix, root }: TestDirectory,
  settings: Readonly<Record<string, unknown>> = {},
  name = 'company'
): void {
  const entry = {
    label: 'Company',
    urls: [secure],
    ca,
    bind_dn: root.dn,
    bind_password: root.password,
    base: `ou=people,${suffix}`,
    timeout: 5,
    ...settings
  }
  loadConfig({ port: 0, identity: { ldap: { ...config().identity.ldap, [name]: entry } } })
  t.teardown(() => loadConfig({ port: 0 }))
}

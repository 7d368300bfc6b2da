import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { config, loadConfig, publicUrl, root, servesAt } from '../src/config.js'
import { Misconfigured } from '../src/errors.js'

type Variables = Record<string, string>

/** Loads the configuration of a home that holds `file`, with these variables in the environment and no others. */
function load(
  t: Tap.Test,
  { file, variables = {}, flags = {} }: { file?: string; variables?: Variables; flags?: object }
) {
  const home = t.testdir(file === undefined ? {} : { 'config.yaml': file })
  const before = { ...process.env }
  for (const name of Object.keys(process.env)) if (name.startsWith('GITSTEAD_')) delete process.env[name]
  Object.assign(process.env, variables)
  try {
    return loadConfig({ home, ...flags })
  } finally {
    for (const name of Object.keys(process.env)) if (name.startsWith('GITSTEAD_')) delete process.env[name]
    Object.assign(process.env, before)
  }
}

declare namespace Tap {
  type Test = { testdir(files: Record<string, string>): string }
}

t.test('the defaults are in the file that documents them', async t => {
  const { home, root: folder, ...rest } = load(t, {})
  t.same(rest, parse(readFileSync(join(root, 'config/default.yaml'), 'utf8')))
  t.ok(home)
  t.equal(folder, root)
})

t.test('each source overrides the one below', async t => {
  const file = 'port: 1001\nlog: {level: warn}\ngit:\n  timeout: 7\n'
  t.match(load(t, { file }), { port: 1001, log: { level: 'warn' }, git: { timeout: 7, max_readers: 32 } })
  const variables = { GITSTEAD_PORT: '1002', GITSTEAD_GIT_TIMEOUT: '8' }
  t.match(load(t, { file, variables }), { port: 1002, log: { level: 'warn' }, git: { timeout: 8 } })
  t.match(load(t, { file, variables, flags: { port: 1003, host: undefined } }), { port: 1003, host: '127.0.0.1' })
})

t.test('an operator names the entries of a section', async t => {
  const entry = '{label: Example, issuer: "https://id.example.org", client_id: gitstead}'
  const file = `identity: {oidc: {example: ${entry}}}`
  t.match(load(t, { file }).identity, { oidc: { example: { label: 'Example' } }, ldap: {} })
  const refusal = (text: string) => {
    const found = t.throws(() => load(t, { file: text }), Misconfigured)
    return (found as Misconfigured).message
  }
  t.equal(
    refusal('identity: {oidc: {example: {label: 7}}}').split('(')[0],
    'configuration: identity.oidc.example.label must be null or text on one line of at most 60 characters '
  )
  t.match(refusal(`identity: {oidc: {"A b": ${entry}}}`), /identity\.oidc\.A b must have a name of lower-case letters/)
  t.match(
    load(t, { file: `${file.slice(0, -1)}, scim: {provider: example, members: [A B -> c as guest]}}` }).identity.scim,
    {
      provider: 'example',
      members: ['A B -> c as guest']
    }
  )
  t.match(
    refusal('identity: {scim: {provider: gone}}'),
    'identity.scim.provider is gone, which is neither in identity.oidc'
  )
  for (const line of ['A -> b as owner', 'A -> b/c as guest', 'A - b as guest', ' A -> b as guest', '-> b as guest']) {
    t.match(
      refusal(`identity: {scim: {members: ["${line}"]}}`),
      'identity.scim.members must be a list of texts such as'
    )
  }
  t.match(refusal('identity: {oidc: {example: 7}}'), 'identity.oidc.example must contain keys (it is 7)')
  t.match(refusal('identity: {oidc: {example: {lable: x}}}'), 'unknown key identity.oidc.example.lable')
})

t.test('the settings of a provider are refused in one line', async t => {
  const entry = (changes: object) =>
    JSON.stringify({ issuer: 'https://id.example.org', client_id: 'gitstead', ...changes })
  const problem = (changes: object, others = '') => {
    try {
      load(t, { file: `identity: {oidc: {example: ${entry(changes)}}${others}}` })
    } catch (error) {
      return (error as Misconfigured).message.replace('configuration: identity.oidc.example', '')
    }
    return null
  }
  t.equal(problem({}), null)
  t.equal(
    problem({ claims: { groups: 'roles' }, admin: { values: ['x'] } }),
    null,
    'the other keys keep their defaults'
  )
  const wrong: [changes: object, message: RegExp][] = [
    [{ issuer: 'http://id.example.org' }, /^\.issuer must be an https URL, except on this machine \(it is http:/],
    [{ issuer: 'http://127.0.0.1.example.org' }, /^\.issuer must be an https URL/],
    [{ issuer: 'https://id.example.org?x' }, /^\.issuer must be an http or https URL \(it is "https:/],
    [{ issuer: 'https://u:p@id.example.org' }, /^\.issuer must be a URL without a user and a password$/],
    [{ issuer: 'https://[' }, /^\.issuer must be a URL \(/],
    [{ client_id: '' }, /^\.client_id must be text on one line \(it is ""\)$/],
    [{ client_secret: 7123 }, /^\.client_secret must be null or text on one line \(it is something else\)$/],
    [{ client_auth: 'basic' }, /^\.client_auth needs a client_secret$/],
    [{ scopes: ['email'] }, /^\.scopes must contain openid$/],
    [{ allowed_domains: ['@example.org'] }, /^\.allowed_domains must be a list of domains/],
    [
      { members: ['engineers -> backend'] },
      /^\.members must be a list of texts such as "engineers -> backend as developer"/
    ],
    [{ members: ['engineers -> a/b as developer'] }, /^\.members/],
    [{ admin: { value: ['x'] } }, /^unknown key|unknown key identity\.oidc\.example\.admin\.value/],
    [{ clock_skew: 3600 }, /^\.clock_skew must be a whole number from 0 to 600/]
  ]
  for (const [changes, message] of wrong) t.match(problem(changes), message)
  t.equal(problem({ issuer: 'http://127.0.0.1:4000' }), null)
  const directory = ', ldap: {example: {urls: ["ldaps://ldap.example.org"], base: "dc=example,dc=org"}}'
  t.equal(problem({}, directory), ' has the name of a directory, identity.ldap.example: choose another one')
  for (const name of ['password', 'passkey', 'scim']) {
    const named = t.throws(() => load(t, { file: `identity: {oidc: {${name}: ${entry({})}}}` }), Misconfigured)
    t.match((named as Misconfigured).message, `identity.oidc.${name} cannot have this name: choose another one`)
    const renamed = directory.replace('example:', `${name}:`)
    t.throws(() => load(t, { file: `identity: {oidc: {example: ${entry({})}}${renamed}}` }), {
      message: `configuration: identity.ldap.${name} cannot have this name: choose another one`
    })
  }
})

t.test('variables have the types of their defaults', async t => {
  const variables = {
    GITSTEAD_HOOKS_ALLOW: '10.0.0.0/8, 127.0.0.1',
    GITSTEAD_RUNNER_NETWORK: 'true',
    GITSTEAD_QUEUE_CONCURRENCY_BUILDS: '5',
    GITSTEAD_QUEUE_POLL_INTERVAL: '0.25',
    GITSTEAD_DATABASE_URL: 'mysql://u:p@h/n',
    GITSTEAD_URL: ''
  }
  t.match(load(t, { variables }), {
    hooks: { allow: ['10.0.0.0/8', '127.0.0.1'] },
    runner: { network: true },
    queue: { concurrency: { builds: 5, hooks: 10 }, poll_interval: 0.25 },
    database: { url: 'mysql://u:p@h/n' },
    url: null
  })
})

t.test('an empty file is not an error', async t => {
  for (const file of ['', '# nothing\n', 'null\n']) t.equal(load(t, { file }).port, 8080)
})

const wrong: [string, { file?: string; variables?: Variables; flags?: object }, RegExp][] = [
  ['an unknown key', { file: 'prot: 1\n' }, /unknown key prot$/],
  ['an unknown key in a section', { file: 'git:\n  max_procesess: 1\n' }, /unknown key git\.max_procesess$/],
  ['a word for a number', { file: 'port: many\n' }, /port .*"many"/],
  ['a port beyond the last', { file: 'port: 70000\n' }, /port .*70000/],
  ['a time that is too long for a timer', { file: 'git: {timeout: 99999999}\n' }, /git\.timeout .* from 1 to 2000000 /],
  ['an infinite time', { file: 'database: {timeout: .inf}\n' }, /database\.timeout .* from 0\.5 to 2000000 /],
  ['a number for a section', { file: 'git: 5\n' }, /git .*5/],
  ['a variable of a wrong kind', { variables: { GITSTEAD_PORT: 'x' } }, /port .*"x"/],
  ['a switch of a wrong kind', { variables: { GITSTEAD_RUNNER_NETWORK: 'maybe' } }, /runner\.network .*"maybe"/],
  ['a flag of a wrong kind', { flags: { port: -1 } }, /port .*-1/],
  ['another kind of database', { file: 'database: {url: "postgres://x"}\n' }, /database\.url .*postgres/],
  ['an empty list of storages', { file: 'repositories: {storages: []}\n' }, /repositories\.storages/],
  ['a storage outside its folder', { file: 'repositories: {storages: ["../x"]}\n' }, /repositories\.storages/],
  ['an unknown level', { file: 'log: {level: loud}\n' }, /log\.level .*"loud"/],
  ['an unknown sandbox', { file: 'runner: {sandbox: docker}\n' }, /runner\.sandbox/],
  [
    'an engine that anybody can reach',
    { file: 'runner: {docker: {socket: "tcp://h:2375"}}\n' },
    /docker\.tls\.ca must be a file/
  ],
  [
    'a path instead of a socket URL',
    { file: 'runner: {docker: {socket: /var/run/docker.sock}}\n' },
    /docker\.socket .*unix:/
  ],
  ['an invalid pattern', { file: 'runner: {docker: {allowed_images: ["a b"]}}\n' }, /allowed_images .*ruby/],
  [
    'uploads in a bucket without a name',
    { file: 'uploads: {bucket: true}\n' },
    /uploads\.bucket is true, but storage\.s3\.bucket names no bucket/
  ],
  ['backups in a bucket without a name', { file: 'storage: {backups: s3}\n' }, /storage\.backups is s3, but/],
  [
    'traces in the database that have no bucket for their end',
    { file: 'storage: {growing_traces: database}\n' },
    /storage\.growing_traces is database, but then ended traces need a bucket/
  ],
  ['an unknown place', { file: 'storage: {traces: disk}\n' }, /storage\.traces must be null or one of s3, folder/],
  [
    'a bucket under both names',
    { file: 'storage: {s3: {bucket: new}}\nartifacts: {s3: {bucket: old}}\n' },
    /artifacts\.s3\.bucket is the former name/
  ],
  ['a URL without a scheme', { file: 'url: git.example.org\n' }, /url /],
  ['a list', { file: '- a\n' }, /config\.yaml must be a mapping/],
  ['text that is not YAML', { file: 'a: [1\n' }, /config\.yaml cannot be read/],
  ['a key that every object has', { file: 'constructor: {port: 1}\n' }, /unknown key constructor$/],
  ['such a key in a section', { file: 'git: {toString: 1}\n' }, /unknown key git\.toString$/]
]
for (const [what, given, message] of wrong) {
  t.test(`${what} is one line with its path`, async t => {
    try {
      load(t, given)
      t.fail('should have thrown')
    } catch (error) {
      t.type(error, Misconfigured)
      const text = (error as Error).message
      t.match(text, /^configuration: /)
      t.match(text, message)
      t.notOk(text.includes('\n'), text)
    }
  })
}

t.test('a configuration cannot be changed', async t => {
  const known = load(t, {}) as unknown as { port: number; git: { timeout: number }; hooks: { allow: string[] } }
  t.throws(() => {
    known.port = 1
  }, TypeError)
  t.throws(() => {
    known.git.timeout = 1
  }, TypeError)
  t.throws(() => known.hooks.allow.push('0.0.0.0/0'), TypeError)
  t.equal(config(), known)
})

t.test('with any free port, URLs have the port that the server has noted', async t => {
  const known = load(t, { file: 'host: 127.0.0.1\nport: 0\n' })
  t.equal(publicUrl(), 'http://127.0.0.1:0', 'no server runs')
  mkdirSync(join(known.home, 'run'))
  for (const port of [4711, 4712]) {
    writeFileSync(join(known.home, 'run/server.json'), JSON.stringify({ host: '127.0.0.1', port }))
    t.equal(publicUrl(), `http://127.0.0.1:${port}`)
  }
  servesAt(4713)
  t.equal(publicUrl(), 'http://127.0.0.1:4713', 'this process is the server')
})

t.test('publicUrl', async t => {
  const of = (file: string) => {
    load(t, { file })
    return publicUrl()
  }
  t.equal(of('host: 127.0.0.1\nport: 81\n'), 'http://127.0.0.1:81')
  t.equal(of('host: "::1"\nport: 81\n'), 'http://[::1]:81')
  t.equal(of('url: https://git.example.org/\n'), 'https://git.example.org')
  t.equal(of('port: 0\nurl: https://git.example.org/\n'), 'https://git.example.org')
  t.equal(of('url: https://example.org/git/\n'), 'https://example.org/git')
})

// Tests `config show`, `config check` and `info`, as scripts use them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderSize } from '../../src/cli/appliance/folder-size.js'
import { revision, version } from '../../src/version.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import t from '../helpers/tap.js'

interface Setting {
  key: string
  value: unknown
  origin: string
}

t.test('config show prints each value with its origin, but no passwords', async t => {
  const home = t.testdir({ 'config.yaml': 'port: 81\ngit:\n  timeout: 7\nlog: {level: warn}\n' })
  const environment = { GITSTEAD_LOG_LEVEL: 'error', GITSTEAD_DATABASE_URL: 'mysql://ada:hunter22@db/gitstead' }
  const { code, stdout, json } = await cli(['config', 'show', '--home', home, '--json'], { environment })
  t.equal(code, 0)
  t.match(json(), { home, file: join(home, 'config.yaml') })
  const found = new Map((json().settings as Setting[]).map(({ key, value, origin }) => [key, [value, origin]]))
  t.same(found.get('host'), ['127.0.0.1', 'default'])
  t.same(found.get('port'), [81, 'file'])
  t.same(found.get('git.timeout'), [7, 'file'])
  t.same(found.get('git.max_readers'), [32, 'default'])
  t.same(found.get('log.level'), ['error', 'environment'])
  t.same(found.get('hooks.allow'), [[], 'default'])
  t.same(found.get('database.url'), ['mysql://ada:redacted@db/gitstead', 'environment'])
  t.notMatch(stdout, 'hunter22')
  const plain = await cli(['config', 'show', '--home', home], { environment })
  t.match(plain.stdout, /^database\.url +mysql:\/\/ada:redacted@db\/gitstead +environment$/m)
  t.match(plain.stdout, /^hooks\.allow +\[\] +default$/m)
})

t.test('config check reports every problem', async t => {
  const wrong = 'prot: 1\ngit: {timeout: x}\nhooks: {allow: [nowhere]}\ndatabase: {url: "postgres://u:hunter22@h/d"}\n'
  const home = t.testdir({ 'config.yaml': wrong })
  const environment = { GITSTEAD_QUEUE_LEASE: 'soon' }
  const { code, stdout, stderr } = await cli(['config', 'check', '--home', home], { environment })
  t.equal(code, 1)
  t.equal(stderr, '')
  t.same(stdout.trim().split('\n'), [
    'file: unknown key prot',
    'file: database.url must be null or a URL such as mysql://USER:PASSWORD@HOST/NAME (it is "postgres://u:redacted@h/d")',
    'file: git.timeout must be a whole number from 1 to 2000000 (it is "x")',
    'environment: queue.lease must be a whole number from 3 to 2000000 (it is "soon")',
    'file: hooks.allow: "nowhere" is not an address or a range such as 10.0.0.0/8 or fd00::/8'
  ])
  const asJson = await cli(['config', 'check', '--home', home, '--json'])
  t.equal(asJson.code, 1)
  t.match(asJson.json(), { ok: false, problems: [{ path: 'prot', origin: 'file' }, {}, {}, {}] })

  t.test('config check FILE checks a file before it is used', async t => {
    const folder = t.testdir({ 'good.yaml': 'port: 82\n', 'list.yaml': '- a\n', 'bad.yaml': 'port: 70000\n' })
    const check = (name: string) => cli(['config', 'check', join(folder, name), '--home', home, '--json'])
    const good = await check('good.yaml')
    t.equal(good.code, 0)
    t.same(good.json(), { ok: true, file: join(folder, 'good.yaml'), problems: [] })
    t.match((await check('bad.yaml')).json(), { problems: [{ path: 'port', text: /70000/, origin: 'file' }] })
    for (const name of ['list.yaml', 'none.yaml', '.']) {
      const refused = await check(name)
      t.equal(refused.code, 1, name)
      t.match(refused.json(), {
        error: { code: 'failed', message: /^configuration: .*(mapping|does not exist|cannot be read)/ }
      })
    }
  })
})

t.test('info prints versions, counts and sizes', async t => {
  const { home, databaseUrl } = await testDatabase()
  await factory.user()
  await factory.admin()
  await factory.user({ blocked: true })
  const project = await factory.project()
  await factory.file(project, 'README', 'x'.repeat(100_000))
  const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
  const { code, json } = await cli(['info', '--json'], { environment })
  t.equal(code, 0)
  t.match(json(), {
    versions: {
      gitstead: version,
      revision,
      node: process.versions.node,
      git: /^2\.\d+/,
      database: /^\d+\.\d+/,
      system: String
    },
    home,
    urls: { public: 'http://127.0.0.1:8080', server: /^http:\/\//, api: 'http://127.0.0.1:8080/api/v3' },
    database: { kind: 'outside', bytes: Number },
    counts: {
      users: { total: 4, active: 3, blocked: 1, administrators: 1 },
      projects: 1,
      hooks: 0,
      jobs: { ready: Number, delayed: 0, running: 0, dead: 0 }
    },
    folders: {
      repositories: { complete: true },
      artifacts: { files: 0, bytes: 0 },
      traces: { files: 0 },
      lfs: { files: 0 }
    }
  })
  const { folders, database } = json() as { folders: { repositories: { files: number } }; database: { bytes: number } }
  t.ok(folders.repositories.files > 3)
  t.ok(database.bytes > 100_000)
  const plain = await cli(['info'], { environment })
  t.match(plain.stdout, /^users: 4 \(3 active, 1 blocked, 1 administrators\)$/m)
  t.match(plain.stdout, /^repositories: [\d.]+ [KM]?i?B in \d+ files$/m)
  const away = { ...environment, GITSTEAD_DATABASE_URL: 'mysql://root:x@127.0.0.1:1/x' }
  t.equal((await cli(['info'], { environment: away })).code, 5)
})

t.test('folderSize counts all files below a folder, and stops at its deadline', async t => {
  const folder = t.testdir({ a: 'x', deep: { deeper: { b: 'y' } } })
  mkdirSync(join(folder, 'many'))
  for (let at = 0; at < 200; at++) writeFileSync(join(folder, 'many', `f${at}`), 'x')
  t.match(await folderSize(folder, Date.now() + 60_000), { files: 202, complete: true })
  t.match(await folderSize(join(folder, 'nowhere'), Date.now() + 60_000), { files: 0, bytes: 0, complete: true })
  t.match(await folderSize(folder, 0), { complete: false })
})

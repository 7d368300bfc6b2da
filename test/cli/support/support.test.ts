// Tests `gitstead support`: secrets are planted wherever the appliance keeps texts, and none may be in the bundle.
import { createReadStream, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import t from 'tap'
import { extract } from 'tar-stream'
import { setMaintenanceMode } from '../../../src/areas/ground/settings/maintenance-mode.js'
import { reportConfig } from '../../../src/config.js'
import { execute } from '../../../src/db/connect/sql.js'
import { prepareHome } from '../../../src/home.js'
import { ensureSecrets } from '../../../src/secrets.js'
import { cli } from '../../helpers/cli.js'
import { testDatabase } from '../../helpers/database.js'
import { factory, someOrigin } from '../../helpers/factory.js'

const { home, databaseUrl } = await testDatabase()
prepareHome()
const secrets = ensureSecrets()
const folder = mkdtempSync(join(tmpdir(), 'gitstead-support-'))
t.teardown(() => rmSync(folder, { recursive: true }))
let made = 0

async function support(...args: string[]) {
  const file = join(folder, `${++made}.tar.gz`)
  const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl, GITSTEAD_PORT: '0' }
  const { code, stdout, stderr } = await cli(['support', '--to', file, '--json', ...args], { environment })
  if (code !== 0) return { code, stdout, stderr, file, files: {} as Record<string, string> }
  const files: Record<string, string> = {}
  for await (const entry of createReadStream(file).pipe(createGunzip()).pipe(extract()))
    files[entry.header.name] = await text(entry)
  return { code, stdout, stderr, file, files }
}

const log = (...lines: (object | string)[]) => {
  mkdirSync(join(home, 'run'), { recursive: true })
  const texts = lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line)))
  writeFileSync(join(home, 'run/gitstead.log'), `${texts.join('\n')}\n`)
}
const time = new Date().toISOString()

t.test('the bundle has facts, checks, settings and the log', async t => {
  log({ level: 'info', time, pid: 7, process: 'server', host: '127.0.0.1', port: 80, msg: 'server ready' })
  const { code, files, file } = await support()
  t.equal(code, 0)
  t.same(
    Object.keys(files),
    ['info', 'doctor', 'config', 'log'].map(name => `gitstead-support/${name}.json${name === 'log' ? 'l' : ''}`)
  )
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.match(JSON.parse(files['gitstead-support/info.json'] ?? ''), { home, database: { kind: 'outside' } })
  t.match(JSON.parse(files['gitstead-support/doctor.json'] ?? ''), { checks: [{ name: 'gitstead', ok: true }] })
  t.match(
    JSON.parse(files['gitstead-support/config.json'] ?? '').settings.find(({ key }: { key: string }) => key === 'port'),
    { value: 0, origin: 'environment' }
  )
  t.same(JSON.parse(files['gitstead-support/log.jsonl'] ?? ''), {
    time,
    level: 'info',
    process: 'server',
    msg: 'server ready',
    pid: 7,
    port: 80
  })
})

t.test('no secret is in the bundle, wherever it was', async t => {
  const planted: string[] = []
  const plant = (about: string) => {
    const secret = `${about.replace(/\W/g, '')}Hunter${planted.length}x7Secret`
    planted.push(secret)
    return secret
  }
  // Settings: every text that the rules allow.
  const texts = {
    mail: {
      from: `${plant('from')}@example.org`,
      reply_to: `${plant('reply')}@example.org`,
      smtp: { user: plant('user'), password: plant('password') }
    },
    artifacts: {
      s3: {
        bucket: 'builds',
        endpoint: `http://ada:${plant('endpoint')}@127.0.0.1:1`,
        prefix: `${plant('prefix')}/`,
        access_key_id: plant('id'),
        secret_access_key: plant('key')
      }
    },
    url: `https://ada:${plant('url')}@git.example.org`,
    runner: { docker: { tls: { ca: `/${plant('ca')}`, cert: `/${plant('cert')}`, key: `/${plant('tls')}` } } }
  }
  writeFileSync(join(home, 'config.yaml'), JSON.stringify(texts))
  t.teardown(() => rmSync(join(home, 'config.yaml'), { force: true }))
  t.same(reportConfig({ home }).problems, [])
  // The home and the rows.
  planted.push(...Object.values(secrets), decodeURIComponent(new URL(databaseUrl).password))
  await setMaintenanceMode(plant('message'), someOrigin)
  const user = await factory.user({ name: plant('name') })
  await execute('update users set bio = ? where id = ?', [plant('bio'), user.id])
  await execute(
    `insert into jobs (queue, name, payload, state, attempts, error, run_at, created_at)
     values ('default', 'event.published', '{}', 'delayed', 5, ?, now(3), now(3))`,
    [`Error: ${plant('job')}`]
  )
  // The log: known and unknown fields, messages, errors, and lines that are not JSON.
  const error = (message: string) => ({
    name: 'TypeError',
    message,
    code: 'E_X',
    stack: `TypeError: ${message}\n    at open (src/x.ts:1:2)`
  })
  log(
    { level: 'info', time, process: 'server', msg: `a token ${plant('msg')}` },
    { level: 'info', time, process: 'server', msg: `password=short1 of ${secrets.database_password}` },
    {
      level: 'info',
      time,
      process: 'server',
      route: `/x/${plant('route')}`,
      request: plant('request'),
      msg: 'request'
    },
    {
      level: 'info',
      time,
      process: 'server',
      [plant('field')]: 1,
      more: plant('more'),
      deep: { token: plant('deep') },
      msg: 'deep'
    },
    { level: plant('level'), time, name: plant('of'), code: plant('code'), msg: 'words' },
    { level: 'error', time, error: error(plant('error')), msg: 'the program has a fault' },
    { level: 'error', time, error: `Error: ${plant('text')}`, msg: 'failed' },
    { level: 'warn', time, from: 'console', msg: 'the word is hunter2' },
    { level: 'warn', time, error: { ...error('hunter2'), name: plant('kind') }, msg: 'x' },
    `a crash with ${plant('crash')}`,
    JSON.stringify(plant('json'))
  )
  const { code, files, stdout } = await support()
  t.equal(code, 0)
  const all = Object.values(files).join('\n') + stdout
  for (const secret of planted) t.notMatch(all, secret)
  t.notMatch(all, /hunter2|short1/)
  t.match(
    files['gitstead-support/log.jsonl'],
    /"error":\{"name":"TypeError","code":"E_X","stack":\[" {4}at open \(src\/x.ts:1:2\)"\]\}/
  )
  t.match(JSON.parse(stdout), { log: { lines: 9, skipped: 2 } })
  await setMaintenanceMode(null, someOrigin)
})

t.test('the user name of the database is not a secret', async t => {
  const { username } = new URL(databaseUrl)
  log({ level: 'info', time, process: 'server', msg: `connected as ${username}` })
  const { files } = await support()
  t.match(files['gitstead-support/log.jsonl'], `"msg":"connected as ${username}"`)
})

t.test('the newest lines fit into the limit', async t => {
  const lines = Array.from({ length: 30_000 }, (_, at) => ({
    level: 'info',
    time,
    pid: at,
    process: 'server',
    msg: 'x'
  }))
  log(...lines)
  const { files } = await support('--max-bytes', String(2 ** 20))
  const all = Object.values(files)
  t.ok(all.reduce((sum, each) => sum + each.length, 0) <= 2 ** 20)
  t.match(JSON.parse(all.at(-1)?.trim().split('\n').at(-1) ?? ''), { pid: 29_999 })
})

t.test('an existing file is not replaced, and a folder that does not exist is named', async t => {
  writeFileSync(join(folder, `${made + 1}.tar.gz`), 'mine')
  t.match(await support(), { code: 1, stdout: /EEXIST.*choose another file with --to/ })
  t.equal(readFileSync(join(folder, `${made}.tar.gz`), 'utf8'), 'mine')
})

// Tests which commands create a home, and which folders are not homes.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { root } from '../../src/config.js'
import { cli, cliProcess } from '../helpers/cli.js'
import { until } from '../helpers/until.js'
import { freePort } from '../scenarios/appliance.js'

/** Returns a folder with a short path, which the sockets of a home need. */
function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-homes-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const create = ['users', 'create', '--username', 'ada', '--email', 'ada@example.org', '--name', 'Ada']
const createUser = (home: string) =>
  cli([...create, '--password-stdin', '--home', home], { input: 'a long password\n' })

const READING: readonly (readonly string[])[] = [
  ['users', 'list'],
  ['users', 'show', 'ada'],
  ['users', 'delete', 'ada', '--dry-run'],
  ['hooks', 'list'],
  ['jobs', 'stats'],
  ['settings', 'list'],
  ['maintenance', 'list'],
  ['backup', 'list'],
  ['backup', 'create', '--dry-run'],
  ['audit', 'list'],
  ['db', 'status'],
  ['db', 'rollback', '--dry-run'],
  ['info'],
  ['status'],
  ['stop'],
  ['restart'],
  ['logs'],
  ['api', 'GET', 'version', '--as', 'ada']
]

t.test('a command that only reads does not create a home', async t => {
  const home = join(newFolder(t), 'typo')
  for (const command of READING) {
    const { code, stdout, stderr } = await cli([...command, '--home', home])
    t.equal(code, 3, command.join(' '))
    t.equal(stdout, '')
    t.match(stderr, /^gitstead: there is no appliance in \S+typo: .*--home names another folder\n$/)
  }
  t.notOk(existsSync(home))
})

t.test('a folder with other files is not a home', async t => {
  const folder = newFolder(t)
  writeFileSync(join(folder, 'thesis.tex'), 'x')
  const commands = [
    ['up', '--port', '0'],
    ['users', 'list'],
    [...create, '--password-stdin'],
    ['db', 'migrate'],
    ['server']
  ]
  for (const command of commands) {
    const { code, stderr } = await cli([...command, '--home', folder], { input: 'a long password\n' })
    t.equal(code, 1, command.join(' '))
    t.match(stderr, /has other files \(thesis\.tex\): choose an empty folder for the home/)
  }
  t.same(readdirSync(folder), ['thesis.tex'])
})

t.test('a home without its secrets does not get new ones', async t => {
  const home = newFolder(t)
  mkdirSync(join(home, 'mysql'))
  const { code, stderr } = await createUser(home)
  t.equal(code, 1)
  t.match(stderr, /secrets\.json is missing, and nobody can open the database without it/)
  t.same(readdirSync(home), ['mysql'])
})

t.test('a home whose secrets.json is lost opens again with a new one', async t => {
  const home = newFolder(t)
  // A process keeps the secrets that it has read, so each command gets its own.
  const run = cliProcess
  t.equal((await createUser(home)).code, 0)
  rmSync(join(home, 'secrets.json'))
  t.match(await run(['users', 'list', '--home', home]), { code: 1, stderr: /secrets\.json is missing/ })
  t.equal((await run(['db', 'accept-key', '--home', home])).code, 2, 'only after a confirmation')
  t.notOk(existsSync(join(home, 'secrets.json')))
  const { code, stdout } = await run(['db', 'accept-key', '--yes', '--home', home])
  t.equal(code, 0)
  t.match(stdout, /^accepted the key of this home\nit cannot decrypt [1-9]/)
  t.match(await run(['users', 'list', '--home', home]), { code: 0, stdout: /ada@example\.org/ })
  t.notOk(existsSync(join(home, 'run/password.sql')))
})

t.test('no command hangs on a folder in which nobody can create anything', async t => {
  const commands = [
    ['status', '--home', '/proc'],
    ['doctor', '--home', '/proc'],
    ['users', 'list', '--home', '/proc'],
    [...create, '--password-stdin', '--home', '/proc/x'],
    ['up', '--port', '0', '--home', '/proc'],
    ['up', '--port', '0', '--home', '/proc/x/y'],
    ['worker', '--home', '/proc/x/y']
  ]
  for (const command of commands) {
    // The time limit is only for a command that hangs.
    const { status, signal } = spawnSync(process.execPath, [join(root, 'bin/gitstead'), ...command], {
      env: { PATH: process.env.PATH },
      input: 'a long password\n',
      timeout: 120_000,
      killSignal: 'SIGKILL'
    })
    t.equal(signal, null, command.join(' '))
    t.not(status, 0, command.join(' '))
  }
})

t.test('an empty folder name is a usage error', async t => {
  const home = newFolder(t)
  const commands = [
    ['backup', 'create', '--to', ''],
    ['backup', 'create', '--secrets-to', ''],
    ['backup', 'list', '--to', ''],
    ['restore', 'latest', '--into', ''],
    ['users', 'list', '--home', '']
  ]
  for (const command of commands) {
    const place = command.includes('--home') ? [] : ['--home', home]
    const { code, stderr } = await cli([...command, ...place])
    t.equal(code, 2, command.join(' '))
    t.match(stderr, /^gitstead: .*the name of the file or folder is empty\n$/)
  }
  t.same(readdirSync(home), [])
})

t.test('no command mistakes an unfinished restore or an empty folder for a home', async t => {
  const folder = newFolder(t)
  const empty = await cli(['backup', 'list', '--home', folder])
  t.equal(empty.code, 3)
  t.match(empty.stderr, /^gitstead: there is no appliance in /)
  mkdirSync(join(folder, '.restoring-1-2'))
  for (const command of [['backup', 'list'], ['status'], ['stop'], ['restart'], ['logs'], ['users', 'list']]) {
    const { code, stdout, stderr } = await cli([...command, '--home', folder])
    t.equal(code, 1, command.join(' '))
    t.equal(stdout, '')
    t.match(stderr, /^gitstead: a restore into \S+ has not ended: /)
  }
  rmSync(join(folder, '.restoring-1-2'), { recursive: true })
  mkdirSync(join(folder, 'backups'))
  t.equal((await cli(['backup', 'list', '--home', folder])).code, 0, 'the backups of a lost home are listed')
})

t.test('a user who cannot read the home gets an error that says so', async t => {
  const home = join(newFolder(t), 'home')
  t.equal((await createUser(home)).code, 0)
  chmodSync(home, 0o000)
  t.teardown(() => chmodSync(home, 0o700))
  // root can read everything, unless it has dropped these capabilities.
  const weak = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'] : []
  const commands = [
    ['backup', 'list'],
    ['users', 'list'],
    ['status'],
    ['up', '--port', '0'],
    ['doctor'],
    ['config', 'show']
  ]
  for (const command of commands) {
    const [program = '', ...rest] = [...weak, process.execPath, join(root, 'bin/gitstead'), ...command, '--home', home]
    const { status, stdout, stderr } = spawnSync(program, rest, { env: { PATH: process.env.PATH }, encoding: 'utf8' })
    t.not(status, 0, command.join(' '))
    t.equal(stdout, '', command.join(' '))
    t.match(
      stderr,
      /^gitstead: \S+ cannot be read \(EACCES\): run gitstead as the owner of the home, user \w+, or name another --home\n$/
    )
  }
})

t.test('root does not work in a home whose owner cannot reach it', async t => {
  const home = join(newFolder(t), 'home')
  t.equal((await createUser(home)).code, 0)
  // Only root can give a file to another user, and read the home of another user. The folder above is closed to others.
  if (process.getuid?.() !== 0) return
  const nobody = 65_534
  for (const path of [home, join(home, 'secrets.json')]) chownSync(path, nobody, nobody)
  for (const command of [
    ['users', 'list'],
    ['backup', 'create'],
    ['db', 'migrate'],
    ['up', '--port', '0'],
    ['worker']
  ]) {
    const { code, stderr } = await cli([...command, '--home', home])
    t.equal(code, 1, command.join(' '))
    t.equal(stderr, `gitstead: ${home} belongs to user nobody: run gitstead as that user\n`)
  }
  for (const command of [['status'], ['stop'], ['logs']]) t.not((await cli([...command, '--home', home])).code, 1)
})

t.test('only up and db migrate update an old schema', async t => {
  const home = join(newFolder(t), 'home')
  const made = await createUser(home)
  t.equal(made.stderr, `gitstead: created a new appliance in ${home}\n`)
  const back = await cli(['db', 'rollback', '--backup', '--yes', '--json', '--home', home])
  t.equal(back.code, 0, back.stderr)
  const { backups } = (await cli(['backup', 'list', '--json', '--home', home])).json() as { backups: { id: string }[] }
  t.match(back.json(), { backup: backups[0]?.id, dry_run: false, steps: [{ migration: String, losses: Array }] })
  for (const command of [
    ['users', 'list'],
    ['jobs', 'pause', 'hooks']
  ]) {
    const { code, stderr } = await cli([...command, '--home', home])
    t.equal(code, 1)
    t.match(stderr, /the database schema is older than the program: run gitstead db migrate/)
  }
  const { rolled_back: undone } = back.json() as { rolled_back: string[] }
  const { migrations } = (await cli(['db', 'status', '--json', '--home', home])).json() as {
    migrations: { name: string; applied_at: string | null }[]
  }
  t.same(
    migrations.filter(({ applied_at }) => applied_at === null).map(({ name }) => name),
    undone
  )
  t.match((await cli(['db', 'migrate', '--home', home])).stdout, `applied ${undone[0]}\n`)
  t.equal((await cli(['users', 'list', '--home', home])).code, 0)
})

t.test('a failure to write output is reported in one line', async t => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  for (const command of [['help'], ['config', 'show'], ['config', 'show', '--json'], ['openapi']]) {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'bin/gitstead'), ...command], {
      env: { PATH: process.env.PATH, GITSTEAD_HOME: join(newFolder(t), 'home') },
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8'
    })
    t.equal(status, 1, command.join(' '))
    t.match(stderr, /^gitstead: cannot write the output: ENOSPC[^\n]*\n$/)
  }
})

t.test('the appliance keeps running while its log cannot be written', async t => {
  const home = join(newFolder(t), 'home')
  const full = openSync('/dev/full', 'w')
  const port = await freePort()
  const command = [join(root, 'bin/gitstead'), 'up', '--home', home, '--port', String(port)]
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, ...command], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, GITSTEAD_LOG_LEVEL: 'info' },
    stdio: ['ignore', full, full]
  })
  closeSync(full)
  const ended = once(child, 'exit')
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/-/readiness`).then(
      ({ status }) => status === 200 || child.exitCode !== null,
      () => child.exitCode !== null
    )
  await until('the appliance is ready', answers)
  t.equal(child.exitCode, null)
  const refused = await cli(['db', 'rollback', '--yes', '--home', home])
  t.equal(refused.code, 4)
  t.match(refused.stderr, /the appliance runs on \S+ \(process \d+\): stop the appliance first/)
  child.kill('SIGTERM')
  t.equal((await ended)[0], 0)
})

t.test('a command at a terminal asks before it destroys anything', async t => {
  const home = join(newFolder(t), 'home')
  t.equal((await createUser(home)).code, 0)
  const remove = (answer: string) => atTerminal(['users', 'delete', 'ada', '--home', home], answer)
  t.match(await remove('n'), {
    code: 1,
    said: /would delete user ada[\s\S]*Continue\? \[y\/N\][\s\S]*nothing was changed/
  })
  t.equal((await cli(['users', 'show', 'ada', '--home', home])).code, 0)
  t.match(await remove('y'), { code: 0, said: /deleted user ada/ })
  t.equal((await cli(['users', 'show', 'ada', '--home', home])).code, 3)
})

/** Runs a command in its own terminal, and sends one answer when it asks. */
async function atTerminal(command: readonly string[], answer: string): Promise<{ code: number; said: string }> {
  const line = [process.execPath, join(root, 'bin/gitstead'), ...command].join(' ')
  const child = spawn('env', ['-u', 'NODE_OPTIONS', 'script', '--quiet', '--return', '--command', line, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'dumb' },
    stdio: ['pipe', 'pipe', 'inherit']
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', text => (said += text))
  const closed = once(child, 'close')
  await until('it asks or ends', () => /Continue\?/.test(said) || child.exitCode !== null)
  child.stdin.end(`${answer}\n`)
  const [code] = await closed
  return { code, said }
}

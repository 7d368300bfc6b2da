// Which commands make a home, and which folders are no homes.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { root } from '../../src/config.js'
import { cli } from '../helpers/cli.js'

/** A short path, as the sockets of a home need one. */
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
  ['info']
]

t.test('a command that reads makes no home', async t => {
  const home = join(newFolder(t), 'typo')
  for (const command of READING) {
    const { code, stdout, stderr } = await cli([...command, '--home', home])
    t.equal(code, 3, command.join(' '))
    t.equal(stdout, '')
    t.match(stderr, /^gitstead: there is no appliance in \S+typo: .*--home names another folder\n$/)
  }
  t.notOk(existsSync(home))
})

t.test('a folder that holds other files is no home', async t => {
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
    t.match(stderr, /holds other files \(thesis\.tex\): choose an empty folder for the home/)
  }
  t.same(readdirSync(folder), ['thesis.tex'])
})

t.test('a home without its secrets is not given new ones', async t => {
  const home = newFolder(t)
  mkdirSync(join(home, 'mysql'))
  const { code, stderr } = await createUser(home)
  t.equal(code, 1)
  t.match(stderr, /secrets\.json is missing, and nobody can open the database without it/)
  t.same(readdirSync(home), ['mysql'])
})

t.test('no command hangs on a folder in which nobody can make anything', async t => {
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
    // The time limit only ends a command that would never end by itself.
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

t.test('an empty name of a folder is an error of usage', async t => {
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
    t.match(stderr, /^gitstead: .*the name of a file or folder is empty\n$/)
  }
  t.same(readdirSync(home), [])
})

t.test('a user who may not read the home is told so', async t => {
  const home = join(newFolder(t), 'home')
  t.equal((await createUser(home)).code, 0)
  chmodSync(home, 0o000)
  t.teardown(() => chmodSync(home, 0o700))
  // root may read everything, unless it has lost these rights.
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
    t.match(stderr, /^gitstead: \S+ cannot be read \(EACCES\): run gitstead as the owner of the home, user \w+\n$/)
  }
})

t.test('only up and db migrate bring an old schema up to date', async t => {
  const home = join(newFolder(t), 'home')
  const made = await createUser(home)
  t.equal(made.stderr, `gitstead: made a new appliance in ${home}\n`)
  const back = await cli(['db', 'rollback', '--yes', '--json', '--home', home])
  t.equal(back.code, 0, back.stderr)
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

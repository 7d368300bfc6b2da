// Lists, drains and forgets machines, and adds and removes storages.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { joinMachines, machineUid } from '../../src/cluster/machines.js'
import { machine } from '../../src/cluster/this-machine.js'
import { closeDatabase } from '../../src/db/connect/connection.js'
import { execute, row, rows } from '../../src/db/connect/sql.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import t from '../helpers/tap.js'
import { until } from '../helpers/until.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (...args: string[]) => cli(['machines', ...args], { environment })

interface Shown {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly running_jobs: number
}
const list = async () => ((await run('list', '--json')).json() as { machines: Shown[] }).machines
const actions = async () =>
  (
    await rows<{ text: string }>(
      "select concat(action, ' ', target_name) as text from audit_events where target_type in ('machine', 'storage') order by id"
    )
  ).map(({ text }) => text)

/** Adds a machine whose lease ends in some seconds. */
async function addMachine(name: string, seconds: number, uid = name.padEnd(32, '0')): Promise<void> {
  await execute(
    `insert into machines (uid, name, boot, version, created_at, started_at, lease_until, server_until, worker_until)
     values (?, ?, ?, '0.0.9', now(3), now(3), now(3) + interval ? second, null, now(3) + interval ? second)`,
    [uid, name, uid, seconds, seconds]
  )
}

/** Adds a job that a worker of the machine runs. */
async function addJob(boot: string): Promise<number> {
  const { insertId: id } = await execute(
    `insert into job_processes (hostname, machine, pid, pid_started, tag, queues, labels, concurrency, started_at, lease_until)
     values ('h', ?, 1, 1, 'x', '[]', '[]', 1, now(3), now(3) + interval 60 second)`,
    [boot]
  )
  await execute(
    `insert into jobs (queue, name, payload, state, attempts, process_id, run_at, started_at, created_at)
     values ('builds', 'build.run', '{}', 'running', 1, ?, now(3), now(3), now(3))`,
    [id]
  )
  return id
}

t.beforeEach(async () => {
  // Otherwise this process would add its own machine again.
  await closeDatabase()
  for (const table of ['machines', 'audit_events', 'jobs', 'job_processes']) await execute(`delete from ${table}`)
})

t.test('machines list shows what each machine is, and how it does', async t => {
  t.match(await run('list'), { code: 0, stdout: 'none\n' })
  await joinMachines('server')
  await execute("update machines set name = 'here', address = 'http://10.0.0.1:8080'")
  await addMachine('beta', 20)
  await addMachine('gamma', -1)
  await addMachine('delta', -999)
  await addJob('beta'.padEnd(32, '0'))
  const [own, beta, gamma, delta] = await list()
  t.match(own, {
    id: machineUid(),
    name: 'here',
    state: 'live',
    server: true,
    worker: false,
    address: 'http://10.0.0.1:8080',
    running_jobs: 0,
    drained_at: null
  })
  t.match(beta, { state: 'live', server: false, worker: true, version: '0.0.9', running_jobs: 1, memory: null })
  t.match([gamma, delta], [{ state: 'late' }, { state: 'lost' }])
  const { stdout } = await run('list')
  t.match(stdout, /^ID +NAME +STATE +SERVER +WORKER +JOBS +LOAD +VERSION +ADDRESS +LEASE UNTIL\n/)
  t.match(stdout, /\nbeta0000 +beta +live +no +yes +1 +- +0\.0\.9 +- +20/)
})

t.test('a machine is named by its name, its id, or the beginning of its id', async t => {
  await addMachine('beta', 20)
  await addMachine('twin', 20, `abcd${'1'.repeat(28)}`)
  await addMachine('twin', 20, `abcd${'2'.repeat(28)}`)
  for (const name of ['beta', 'beta0', 'beta'.padEnd(32, '0')]) {
    t.match(await run('undrain', name), { code: 0, stdout: 'machine beta (beta0000) begins work again\n' }, name)
  }
  t.match(await run('undrain', 'twin'), { code: 4, stderr: /2 machines are called twin: name one by its id/ })
  t.match(await run('undrain', 'abcd'), { code: 4 })
  t.match(await run('undrain', 'abcd1'), { code: 0 })
  for (const name of ['bet', 'nobody', '', "' or 1 = 1 -- ", '%', 'beta0'.padEnd(40, '0')]) {
    t.match(await run('undrain', name), { code: 3, stderr: /no machine is called/ }, name)
  }
  t.match(await run('undrain'), { code: 2 })
  t.same(await actions(), [], 'nothing has changed')
})

t.test('drain and undrain change a machine once, and the audit says so', async t => {
  await addMachine('beta', 20)
  const drained = async () => (await row<{ drained_at: Date | null }>('select drained_at from machines'))?.drained_at
  t.match(await run('drain', 'beta'), { code: 0, stdout: 'drained machine beta (beta0000)\n' })
  const since = await drained()
  t.ok(since)
  t.match((await run('drain', 'beta', '--json')).json(), { drained: { name: 'beta', state: 'draining' } })
  t.same(await drained(), since)
  t.match((await run('undrain', 'beta', '--json')).json(), { undrained: { state: 'live', drained_at: null } })
  t.equal(await drained(), null)
  t.same(await actions(), ['machine.drain beta', 'machine.undrain beta'])
  t.match(await run('drain', 'beta', 'nobody'), { code: 3, stdout: /drained machine beta/ })
})

t.test('drain warns when no server or no worker is left', async t => {
  for (const name of ['beta', 'delta']) await addMachine(name, 60)
  await execute('update machines set server_until = lease_until')
  t.equal((await run('drain', 'beta')).stderr, '')
  const { code, stderr } = await run('drain', 'delta')
  t.equal(code, 0)
  t.match(stderr, /warning: no server is left .*\n.*warning: no worker is left that begins jobs: machines undrain/)
  await run('undrain', 'delta')
  await execute("update machines set worker_until = null where name = 'delta'")
  const again = await run('drain', 'beta')
  t.notMatch(again.stderr, 'server')
  t.match(again.stderr, 'no worker is left')
})

t.test('drain --wait ends when the machine knows and its jobs have ended', async t => {
  await addMachine('beta', 20)
  const process = await addJob('beta'.padEnd(32, '0'))
  const late = await run('drain', 'beta', '--wait', '--timeout', '1')
  t.match(late, { code: 1, stderr: /waiting for machine beta \(beta0000\): it holds 1 job\n/ })
  t.match(late.stderr, /machine beta still holds 1 job after 1 s/)
  await execute('delete from jobs where process_id = ?', [process])
  t.match(await run('drain', 'beta', '--wait', '--timeout', '1'), { code: 1, stderr: /until it renews its lease/ })
  t.equal((await list())[0]?.state, 'draining', 'its worker does not know yet')
  const waiting = run('drain', 'beta', '--wait', '--json')
  await execute('update machines set worker_until = now(3) + interval 60 second, lease_until = worker_until')
  t.match((await waiting).json(), { drained: { name: 'beta', state: 'drained', running_jobs: 0 } })
  await addMachine('delta', -999)
  t.match(await run('drain', 'delta', '--wait'), { code: 0, stdout: 'machine delta (delta000) holds nothing\n' })
})

t.test('drain --wait waits for storages that others may take, and names those that nobody takes', async t => {
  t.teardown(() => execute('delete from storages'))
  await addMachine('beta', 60)
  await execute(
    `insert into storages (name, marker, owner, wanted, lease_until, created_at)
     values ('fast', ?, ?, null, now(3) + interval 60 second, now(3))`,
    ['f'.repeat(32), 'beta'.padEnd(32, '0')]
  )
  const late = await run('drain', 'beta', '--wait', '--timeout', '1')
  t.match(late, { code: 1, stderr: /still holds storages that other machines may take: fast after 1 s/ })
  await execute('update machines set drained_at = now(3) - interval 11 second')
  t.match(await run('drain', 'beta', '--wait'), {
    code: 0,
    stdout: 'machine beta (beta0000) holds nothing, except storages that no other machine reaches: fast\n'
  })
  await execute("update storages set wanted = repeat('a', 32)")
  t.match(await run('drain', 'beta', '--wait', '--timeout', '1'), { code: 1, stderr: /may take: fast/ })
  await execute('update storages set owner = wanted, wanted = null')
  t.match((await run('drain', 'beta', '--wait', '--json')).json(), { drained: { state: 'drained', storages: [] } })
})

t.test('commands name the storages of other machines that they leave out', async t => {
  t.teardown(() => execute('delete from storages'))
  await addMachine('beta', 60)
  await execute(
    `insert into storages (name, marker, owner, wanted, lease_until, created_at)
     values ('fast', ?, ?, null, now(3) + interval 60 second, now(3))`,
    ['f'.repeat(32), 'beta'.padEnd(32, '0')]
  )
  const doctor = () => cli(['doctor', '--json', '--only', 'storages'], { environment })
  const found = async () =>
    ((await doctor()).json() as { checks: { name: string }[] }).checks.find(one => one.name === 'storages')
  t.match(await found(), { ok: true, found: /^not examined here: fast \(machine beta\); run gitstead doctor/ })
  await execute('update storages set lease_until = now(3) - interval 1 second')
  t.match(await found(), { ok: false, found: /^no machine owns 1 storage of 1/, details: [/^fast: /] })
})

t.test('storages add refuses the folder of another storage, and a copy of it', async t => {
  t.teardown(() => execute('delete from storages'))
  const add = (name: string, path: string) =>
    cli(['storages', 'add', name, '--path', path], {
      environment: { ...environment, GITSTEAD_CLUSTER_ADDRESS: 'http://127.0.0.1:9' }
    })
  const [folder, copy] = [join(t.testdir(), 'one'), join(t.testdir(), 'copy')]
  t.match(await add('fast', folder), { code: 0, stdout: /^added the storage fast/ })
  t.match(await add('again', folder), { code: 4, stderr: /one is the folder of the storage fast, or a copy of it/ })
  t.match(await add('gone', '/sys/kernel/gone'), {
    code: 5,
    stderr: /the storage gone at \/sys\/kernel\/gone cannot be used \((EPERM|EACCES)\): is it mounted/
  })
  cpSync(folder, copy, { recursive: true })
  t.match(await add('again', copy), { code: 4, stderr: /copy is the folder of the storage fast/ })
  t.match(await rows('select name from storages'), [{ name: 'fast' }])
  t.same(await actions(), ['storage.add fast'])
  rmSync(join(copy, '.storage'))
  t.match(await add('again', copy), { code: 0 })
})

t.test('storages remove takes only an empty storage from the list, which gets no new projects', async t => {
  t.teardown(() => execute('delete from storages'))
  await execute(
    "insert into storages (name, marker, lease_until, created_at) values ('slow', repeat('0', 32), now(3), now(3))"
  )
  const storages = (command: string) => cli(['storages', command, 'slow'], { environment })
  const remove = () => storages('remove')
  t.match(await storages('undrain'), { code: 0 })
  t.match(await remove(), { code: 4, stderr: /new projects go to the storage slow: gitstead storages drain slow/ })
  t.match(await storages('drain'), { code: 0 })
  const { id } = await factory.project(await factory.user())
  await execute("update projects set storage = 'slow' where id = ?", [id])
  t.match(await remove(), {
    code: 4,
    stderr: /the storage slow has projects \(1\): gitstead storages drain slow --move/
  })
  await execute("update projects set storage = 'default' where id = ?", [id])
  await execute("insert into old_repositories (project_id, storage, removable_at) values (?, 'slow', now(3))", [id])
  t.match(await remove(), { code: 4, stderr: /the storage slow still has copies of moved projects/ })
  await execute('delete from old_repositories')
  t.match(await remove(), { code: 0, stdout: /^removed the storage slow; its folder \S+\/repositories\/slow stays\n$/ })
  t.same(await rows('select name from storages'), [])
  t.match(await remove(), { stderr: /no storage is called "slow"/ })
})

t.test('drain --wait fails when somebody ends the drain', async t => {
  await addMachine('beta', 20)
  const waiting = run('drain', 'beta', '--wait')
  await until(
    'it is drained',
    async () => (await row('select 1 from machines where drained_at is not null')) !== undefined
  )
  await execute('update machines set drained_at = null')
  t.match(await waiting, { code: 4, stderr: /is not drained any more/ })
})

t.test('a machine of which nothing runs is forgotten; others are not', async t => {
  await addMachine('beta', 20)
  await addMachine('gamma', -1)
  await addMachine('delta', -999)
  for (const flags of [[], ['--dry-run']]) {
    t.match(await run('forget', 'beta', ...flags), {
      code: 4,
      stderr: /beta runs: stop its server and its worker first/
    })
    t.match(await run('forget', 'gamma', ...flags), {
      code: 4,
      stderr: /gamma may still run: try again a lease after/
    })
  }
  t.match((await run('forget', 'delta', '--dry-run', '--json')).json(), {
    would_forget: { name: 'delta', state: 'lost' }
  })
  t.equal((await list()).length, 3)
  t.match(await run('forget', 'delta'), { code: 0, stdout: 'forgot machine delta (delta000)\n' })
  t.same(
    (await list()).map(({ name }) => name),
    ['beta', 'gamma']
  )
  t.same(await actions(), ['machine.forget delta'])
  t.match(await run('forget', 'delta'), { code: 3 })
})

t.test('doctor names machines that are late, old, or have a wrong clock', async t => {
  interface Found {
    readonly name: string
    readonly ok: boolean
    readonly found: string
    readonly details: readonly string[]
    readonly remedy: string | null
  }
  const check = async () => {
    const { json } = await cli(['doctor', '--json', '--only', 'machines'], { environment })
    return (json() as { checks: Found[] }).checks.find(({ name }) => name === 'machines')
  }
  await joinMachines('worker')
  await execute("update machines set name = 'here', drained_at = now(3)")
  t.match(await check(), { ok: true, found: '1 machine running; drained: here' })
  await execute('update machines set lease_until = now(3) - interval 999 second where boot = ?', [machine()])
  t.match(await check(), { ok: true, found: '0 machines running' }, 'other checks say whether this home runs')
  await addMachine('gamma', -1)
  await addMachine('beta', 20)
  await execute("update machines set clock_offset = -3000 where name = 'beta'")
  const found = await check()
  t.match(found, { ok: false, found: '2 machines of 3 have a fault', remedy: /gitstead machines forget/ })
  t.match(found?.details, [
    /^gamma \(gamma000\): its lease ended at \d{4}-/,
    /^beta \(beta0000\): it runs version 0\.0\.9, and this is .*; its clock is 3\.0 s behind that of the database$/
  ])
})

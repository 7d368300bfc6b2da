// Tests `gitstead up`: each fault of a machine or a home is reported in one clear line, and parts that die are restarted.
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Ended, gitstead, makeUser, processesOf, startAppliance } from '../scenarios/appliance.js'
import { askApi, eventually } from '../scenarios/client.js'
import { rowsOf } from '../scenarios/rows.js'

/** Returns a home with a short path, which sockets need. The test fails when a process still runs on it at the end. */
function newHome(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-up-'))
  t.teardown(() => {
    const left = processesOf(join(folder, 'home'))
    for (const pid of left) process.kill(pid, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
    if (left.length > 0) throw new Error(`processes were left: ${left.join(' ')}`)
  })
  return join(folder, 'home')
}

/** Runs a `gitstead up` that should fail. Logs are off, so that it prints only one line. */
const up = (home: string, options: Parameters<typeof gitstead>[1] & { port?: number } = {}): Promise<Ended> =>
  gitstead(['up', '--home', home, '--port', String(options.port ?? 0)], {
    ...options,
    environment: { GITSTEAD_LOG_LEVEL: 'silent', ...options.environment }
  })

function isOneLine(t: Test, ended: Ended, code: number, text: RegExp): void {
  t.equal(ended.code, code, ended.stderr)
  t.equal(ended.stdout, '', 'it is never ready')
  t.match(ended.stderr, /^gitstead: [^\n]+\n$/, 'one line')
  t.match(ended.stderr, text)
}

/** Returns a folder for PATH in which one program fails: gitstead would find a missing program in the system folders. */
function pathWithout(t: Test, missing: string): string {
  const folder = t.testdir()
  const programs = [
    'env',
    'git',
    'bwrap',
    'mariadbd',
    'setpriv',
    'flock',
    'prlimit',
    'bash',
    'sh',
    'mkfifo',
    'rm',
    'chmod'
  ]
  for (const name of programs.filter(program => program !== missing)) {
    const place = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'].find(at => existsSync(join(at, name)))
    if (place) symlinkSync(join(place, name), join(folder, name))
  }
  writeFileSync(join(folder, missing), '#!/bin/sh\nexit 127\n', { mode: 0o755 })
  return folder
}

t.test('an invalid configuration is reported in one line', async t => {
  const home = newHome(t)
  mkdirSync(home)
  writeFileSync(join(home, 'config.yaml'), 'queue:\n  leese: 20\n')
  isOneLine(t, await up(home), 1, /queue\.leese/)
  writeFileSync(join(home, 'config.yaml'), 'queue:\n  lease: soon\n')
  isOneLine(t, await up(home), 1, /queue\.lease/)
  writeFileSync(join(home, 'config.yaml'), 'queue: [\n')
  isOneLine(t, await up(home), 1, /config\.yaml/)
  rmSync(join(home, 'config.yaml'))
  isOneLine(t, await up(home, { environment: { GITSTEAD_HOOKS_ALLOW: '10.0.0.0/99' } }), 1, /hooks\.allow/)
})

t.test('a port that another program uses is reported in one line', async t => {
  const home = newHome(t)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  isOneLine(t, await up(home, { port }), 1, new RegExp(`port ${port} .*in use`))
  t.notOk(existsSync(home), 'nothing was created')
  t.same(processesOf(home), [], 'nothing was started')
})

t.test('a home of a newer version is reported in one line', async t => {
  const home = newHome(t)
  const appliance = await startAppliance({ home })
  await rowsOf(
    home,
    "insert into schema_migrations (name, applied_at) values ('9999-contract-9998-of-the-future', now())"
  )
  t.equal(await appliance.stop(), 0)
  isOneLine(t, await up(home), 1, /newer version.*9999-contract-9998-of-the-future/)
})

t.test('a missing program is reported in one line', async t => {
  const home = newHome(t)
  isOneLine(t, await up(home, { environment: { PATH: pathWithout(t, 'mariadbd') } }), 1, /mariadb-server-core/)
  isOneLine(t, await up(home, { environment: { PATH: pathWithout(t, 'bwrap') } }), 1, /bubblewrap/)
})

t.test('a home that this user cannot use is reported in one line', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-up-'))
  mkdirSync(join(folder, 'closed'), { mode: 0o500 })
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const nobody = ['setpriv', '--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups']
  const wrap = process.getuid?.() === 0 ? nobody : []
  const ended = await up(join(folder, 'closed/home'), { wrap, environment: { HOME: '/nonexistent' } })
  isOneLine(t, ended, 1, /EACCES.*--home/)
})

t.test('a folder of the home whose disk is not mounted is named', async t => {
  const home = mkdtempSync(join(tmpdir(), 'gitstead-up-'))
  t.teardown(() => rmSync(home, { recursive: true, force: true }))
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(home, 65_534, 65_534)
  // The place of a mount usually belongs to root.
  mkdirSync(join(home, 'repositories'), { mode: 0o500 })
  const nobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']
  const ended = await up(home, { wrap: isRoot ? nobody : [], environment: { HOME: '/nonexistent' } })
  isOneLine(t, ended, 1, /the folder \S+\/repositories of the storages default: EACCES: is it mounted\?/)
})

t.test('a second appliance on the same home is reported in one line', async t => {
  const home = newHome(t)
  const appliance = await startAppliance({ home })
  isOneLine(t, await up(home), 1, new RegExp(`another gitstead up \\(process ${appliance.pid}\\)`))
  t.equal((await fetch(`${appliance.url}/-/readiness`)).status, 200, 'the first appliance still runs')
  t.equal(await appliance.stop(), 0)
})

t.test('parts that die are restarted', async t => {
  const home = newHome(t)
  const { private_token: token } = await makeUser(home, 'root', ['--admin'])
  const appliance = await startAppliance({ home, port: 0 })
  const { url } = appliance
  const user = () => askApi({ url, token }, 'GET', '/user')
  const kill = (role: 'server' | 'worker' | 'database') => {
    const pid = appliance.processes()[role]
    if (pid === undefined) throw new Error(`there is no ${role}`)
    process.kill(pid, 'SIGKILL')
    return pid
  }

  await t.test('the database: requests get 503 with retry-after, and later an answer', async t => {
    t.equal((await user()).status, 200)
    let killed = kill('database')
    const statuses = new Set<number>()
    await eventually(async () => {
      const { status, headers, json } = await user()
      statuses.add(status)
      // The database was back before the first request.
      const { database } = appliance.processes()
      if (!statuses.has(503) && database !== undefined && database !== killed) killed = kill('database')
      if (status === 503) {
        t.match(headers.get('retry-after'), /^\d+$/)
        t.match(json, { message: /^503 / })
      }
      return status === 200 && statuses.has(503)
    })
    t.same([...statuses].sort(), [200, 503], 'no other status')
    t.equal((await fetch(`${url}/-/readiness`)).status, 200)
  })

  await t.test('the server: the new process listens at the same port', async t => {
    const dead = kill('server')
    await eventually(async () => (await user().catch(() => undefined))?.status === 200)
    t.not(appliance.processes().server, dead)
  })

  await t.test('the worker: the new process takes its jobs', async t => {
    const dead = kill('worker')
    await eventually(async () => {
      const { json } = await askApi<{ processes: { pid: number }[] }>({ url, token }, 'GET', '/bgjobs/process_metrics')
      return json.processes.length === 1 && json.processes[0]?.pid !== dead
    })
    t.not(appliance.processes().worker, dead)
  })

  await t.test('a signal ends the appliance with exit code 0 and leaves no process', async t => {
    t.equal(await appliance.stop(), 0)
    t.same(processesOf(home), [])
  })
})

t.test('when gitstead up is killed, its children and the database end, and a new appliance can start', async t => {
  const home = newHome(t)
  const appliance = await startAppliance({ home })
  await appliance.kill()
  const compiled = join(home, 'run/compiled')
  const earlier = `${process.version}-x64-0123abcd-0`
  for (const name of ['v25.1.0-x64-0', earlier]) {
    mkdirSync(join(compiled, name), { recursive: true })
    writeFileSync(join(compiled, name, 'code.cache'), 'x')
  }
  const next = await startAppliance({ home, port: appliance.port })
  const left = () => readdirSync(compiled).filter(name => ['v25.1.0-x64-0', earlier].includes(name))
  await eventually(
    () => left().length === 0,
    () => `compiled code of other programs is left: ${left().join(' ')}`
  )
  t.equal((await fetch(`${next.url}/-/readiness`)).status, 200)
  await next.kill()
  await eventually(
    () => processesOf(home).length === 0,
    () => `still running: ${processesOf(home).join(' ')}`
  )
})

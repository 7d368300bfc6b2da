// What may be wrong with a machine or a home, each as one clear line; and what happens when parts of an appliance die.
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Ended, gitstead, makeUser, processesOf, startAppliance } from '../scenarios/appliance.js'
import { askApi, eventually } from '../scenarios/client.js'
import { rowsOf } from '../scenarios/rows.js'

/** A home with a short path, as sockets need; whatever still runs on it at the end is a fault. */
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

/** Runs `gitstead up` where it is to fail. Logs are off: what remains is the one line. */
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

/** A folder that holds every program but one, to be the whole PATH. */
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
  return folder
}

t.test('a wrong configuration', async t => {
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

t.test('a port that is taken', async t => {
  const home = newHome(t)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  isOneLine(t, await up(home, { port }), 1, new RegExp(`port ${port} .*taken`))
  t.same(processesOf(home), [], 'the database and the worker are gone too')
})

t.test('a home that a newer version has made', async t => {
  const home = newHome(t)
  const appliance = await startAppliance({ home })
  await rowsOf(home, "insert into schema_migrations (name, applied_at) values ('9999-of-the-future', now())")
  t.equal(await appliance.stop(), 0)
  isOneLine(t, await up(home), 1, /newer version.*9999-of-the-future/)
})

t.test('a machine that lacks something', async t => {
  const home = newHome(t)
  isOneLine(t, await up(home, { environment: { PATH: pathWithout(t, 'mariadbd') } }), 1, /mariadb-server-core/)
  isOneLine(t, await up(home, { environment: { PATH: pathWithout(t, 'bwrap') } }), 1, /bubblewrap/)
})

t.test('a home that this user may not have', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-up-'))
  mkdirSync(join(folder, 'closed'), { mode: 0o500 })
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const nobody = ['setpriv', '--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups']
  const wrap = process.getuid?.() === 0 ? nobody : []
  const ended = await up(join(folder, 'closed/home'), { wrap, environment: { HOME: '/nonexistent' } })
  isOneLine(t, ended, 1, /EACCES.*--home/)
})

t.test('a second appliance on the same home', async t => {
  const home = newHome(t)
  const appliance = await startAppliance({ home })
  isOneLine(t, await up(home), 1, new RegExp(`another gitstead up \\(process ${appliance.pid}\\)`))
  t.equal((await fetch(`${appliance.url}/-/readiness`)).status, 200, 'the first one is not disturbed')
  t.equal(await appliance.stop(), 0)
})

t.test('parts that die', async t => {
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

  await t.test('the database: requests are asked to come again, and then answered', async t => {
    t.equal((await user()).status, 200)
    let killed = kill('database')
    const statuses = new Set<number>()
    await eventually(async () => {
      const { status, headers, json } = await user()
      statuses.add(status)
      // It was back before anybody asked.
      const { database } = appliance.processes()
      if (!statuses.has(503) && database !== undefined && database !== killed) killed = kill('database')
      if (status === 503) {
        t.match(headers.get('retry-after'), /^\d+$/)
        t.match(json, { message: /^503 / })
      }
      return status === 200 && statuses.has(503)
    })
    t.same([...statuses].sort(), [200, 503], 'and nothing else')
    t.equal((await fetch(`${url}/-/readiness`)).status, 200)
  })

  await t.test('the server: another one listens at the same place', async t => {
    const dead = kill('server')
    await eventually(async () => (await user().catch(() => undefined))?.status === 200)
    t.not(appliance.processes().server, dead)
  })

  await t.test('the worker: another one takes its jobs', async t => {
    const dead = kill('worker')
    await eventually(async () => {
      const { json } = await askApi<{ processes: { pid: number }[] }>({ url, token }, 'GET', '/bgjobs/process_metrics')
      return json.processes.length === 1 && json.processes[0]?.pid !== dead
    })
    t.not(appliance.processes().worker, dead)
  })

  await t.test('all of it, by a signal: with 0, leaving nothing', async t => {
    t.equal(await appliance.stop(), 0)
    t.same(processesOf(home), [])
  })
})

t.test('the supervisor is killed: its children and the database follow, and a new one starts', async t => {
  const home = newHome(t)
  const appliance = await startAppliance({ home })
  await appliance.kill()
  const next = await startAppliance({ home, port: appliance.port })
  t.equal((await fetch(`${next.url}/-/readiness`)).status, 200)
  await next.kill()
  await eventually(
    () => processesOf(home).length === 0,
    () => `still there: ${processesOf(home).join(' ')}`
  )
})

// Tests `jobs top` in a real terminal: script(1), which every Debian has, opens a pty. Keys go to its standard input.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import stringWidth from 'string-width'
import t, { type Test } from 'tap'
import { createHook } from '../../src/areas/ground/hooks/hooks.js'
import { loadConfig, root } from '../../src/config.js'
import { closeDatabase } from '../../src/db/connect/connection.js'
import { execute, row } from '../../src/db/connect/sql.js'
import { startEmbedded } from '../../src/db/embedded/embedded.js'
import { migrateUp } from '../../src/db/schema/migrate.js'
import { compose } from '../../src/product.js'
import { pausedQueues } from '../../src/queue/administer.js'
import { enqueue } from '../../src/queue/enqueue.js'
import { closeWake } from '../../src/queue/wake.js'
import { appendTrace } from '../../src/storage/traces.js'
import { endBuild, makePipeline } from '../areas/ci/builds/make-builds.js'
import { cli } from '../helpers/cli.js'
import { factory, someOrigin } from '../helpers/factory.js'
import { numbersTo } from '../helpers/numbers.js'
import { eventJob } from '../helpers/published.js'
import { until } from '../helpers/until.js'
import { freePort } from '../scenarios/appliance.js'

delete process.env.GITSTEAD_DATABASE_URL
process.env.GITSTEAD_LOG_LEVEL ??= 'silent'
const home = mkdtempSync(join(tmpdir(), 'gitstead-test-'))
process.env.GITSTEAD_HOME = home
loadConfig({})
compose()
let database = await startEmbedded()
await migrateUp()
t.teardown(async () => {
  closeWake()
  await closeDatabase()
  await database.stop()
  rmSync(home, { recursive: true, force: true })
})

const environment = { GITSTEAD_HOME: home }
const LEFT = '\u001B[?1049l'

interface Terminal {
  readonly child: ChildProcess
  /** The process id of the command itself. */
  readonly pid: number
  type(keys: string): void
  resize(columns: number, rows: number): void
  /** Returns the current lines of the screen. */
  lines(): string[]
  /** Waits until the screen shows a text. */
  sees(text: string | RegExp): Promise<void>
  /** Returns everything that the command has written. */
  output(): string
  ended(): Promise<number | null>
}

/** Starts a command of gitstead in a terminal of 80x24. */
async function terminal(t: Test, args: string, settings: NodeJS.ProcessEnv = {}): Promise<Terminal> {
  const command = `stty cols 80 rows 24; echo "pid $$"; exec ${process.execPath} ${join(root, 'bin/gitstead')} ${args}`
  const child = spawn('env', ['-u', 'NODE_OPTIONS', 'script', '-qefc', command, '/dev/null'], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TERM: 'xterm-256color',
      SHELL: '/bin/sh',
      ...environment,
      ...settings
    },
    stdio: ['pipe', 'pipe', 'inherit']
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stdin.on('error', () => undefined)
  const closed = once(child, 'close')
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await closed
  })
  const pid = Number(await until('the command has begun', () => /pid (\d+)/.exec(output)?.[1]))
  const lines = () => screenOf(output)
  return {
    child,
    pid,
    type: keys => void child.stdin.write(keys),
    resize: (columns, rows) => {
      execFileSync('stty', ['-F', readlinkSync(`/proc/${pid}/fd/0`), 'cols', String(columns), 'rows', String(rows)])
    },
    lines,
    sees: async text => {
      const shows = () => (typeof text === 'string' ? lines().join('\n').includes(text) : text.test(lines().join('\n')))
      await until(`the screen shows ${text}`, shows).catch(error => {
        throw new Error(`${(error as Error).message}\n${lines().join('\n')}`)
      })
    },
    output: () => output,
    ended: async () => {
      const [code] = (await closed) as [number | null]
      return code
    }
  }
}

/** Returns the lines that a terminal shows for this output. The dashboard clears the screen and writes whole lines in place. */
function screenOf(output: string): string[] {
  const lines: string[] = []
  const entered = output.slice(output.lastIndexOf('\u001B[2J'))
  for (const [, at, text = ''] of entered.matchAll(/\u001B\[(\d+);1H\u001B\[2K(.*?)(?=\u001B\[\d+;1H|\u001B\[\?)/gs)) {
    lines[Number(at) - 1] = text.replace(/\u001B\[[\d;]*m/g, '')
  }
  return Array.from(lines, line => line ?? '')
}

async function deadJob(key: string): Promise<number> {
  const id = await enqueue('event.published', eventJob(key))
  await execute("update jobs set state = 'dead', error = ? where id = ?", [
    `Error: ${key} is broken\n  at a\n  at b`,
    id
  ])
  await execute('insert into job_failures (job_id, failed_at) values (?, ?)', [id, new Date()])
  return id
}

const stateOf = async (id: number) =>
  (await row<{ state: string }>('select state from jobs where id = ?', [id]))?.state ?? 'gone'

t.beforeEach(async () => {
  for (const table of ['jobs', 'job_failures', 'paused_queues']) await execute(`delete from ${table}`)
})

t.test('a session: panes, an open job, retry, discard, pause, another size, quit', async t => {
  const [one, two] = [await deadJob('first'), await deadJob('second')]
  const top = await terminal(t, 'jobs top --interval 1')
  await top.sees('[1 Queues]')
  await top.sees(/> default +active/)
  t.equal(top.lines().length, 24)
  t.ok(top.output().includes('\u001B[?1049h'), 'it uses the alternate screen')

  top.type('?')
  await top.sees('discard the job, or all marked ones; asks first')
  top.type('x3')
  await top.sees('[3 Failures]')
  await top.sees(new RegExp(`> +${two} dead .*second`))
  top.type('/first\r')
  await top.sees('Failures 1 of 2')
  await top.sees(new RegExp(`> +${one} dead`))
  top.type('\r')
  await top.sees(/error:\n +Error: first is broken\n +at a\n +at b/)
  top.type('\u001B')
  await top.sees('Failures 1 of 2')

  top.type('r')
  await top.sees(`job ${one} will be tried again`)
  t.equal(await stateOf(one), 'ready')
  top.type('\u001B')
  await top.sees('Failures 1  by')
  top.type('\u0004')
  await top.sees(`discard job ${two}? y/n`)
  top.type('n')
  await top.sees('nothing changed')
  t.equal(await stateOf(two), 'dead')
  top.type('dy')
  await top.sees(`job ${two} is discarded`)
  t.equal(await stateOf(two), 'gone')

  top.type('1p')
  await top.sees(/default +paused/)
  t.same(await pausedQueues(), ['default'])
  top.type('p')
  await top.sees(/default +active/)

  top.resize(200, 60)
  await top.sees('FAILED IN THE LAST HOUR')
  await until('the frame is whole', () => top.lines().length === 60)
  t.same(
    top.lines().filter(line => stringWidth(line) > 200),
    []
  )
  top.resize(60, 16)
  await until('the frame is small', () => top.lines().length === 16)
  t.same(
    top.lines().filter(line => stringWidth(line) > 60),
    []
  )

  top.type('q')
  t.equal(await top.ended(), 0)
  t.ok(top.output().endsWith(LEFT), 'the terminal is restored')
})

t.test('a search finds an old job among thousands; marked jobs are changed together', async t => {
  const ids = [await deadJob('needle-one'), await deadJob('needle-two'), await deadJob('needle-three')]
  const now = new Date()
  await execute(
    `insert into jobs (queue, name, payload, state, run_at, created_at)
     select 'mail', 'event.published', '{"id":"hay"}', 'ready', ?, ? from ${numbersTo(25_000)}`,
    [now, now]
  )
  const top = await terminal(t, 'jobs top --interval 1')
  top.type('5')
  await top.sees(/Jobs 100 +by newest, more with \]/)
  t.notMatch(top.lines().join('\n'), 'needle')
  top.type(']')
  await top.sees('page 2')
  top.type('S')
  await top.sees(/by oldest/)
  await top.sees(new RegExp(`> +${ids[0]} .*needle-one`))
  top.type('S/NEEDLE')
  await top.sees('/NEEDLE_')
  top.type('\r')
  await top.sees('search: NEEDLE')
  await top.sees(/Jobs 3 +by newest/)
  top.type(' ')
  top.type(' ')
  await top.sees('2 marked')
  // In the meantime, somebody else has retried one of them.
  await execute("update jobs set state = 'ready' where id = ?", [ids[2] ?? 0])
  top.type('r')
  await top.sees('1 of 2 jobs will be tried again; the others are neither delayed nor dead')
  t.same(await Promise.all(ids.map(stateOf)), ['dead', 'ready', 'ready'])
  top.type('*d')
  await top.sees('discard 3 jobs? y/n')
  top.type('y')
  await top.sees('3 of 3 jobs are discarded')
  t.same(await Promise.all(ids.map(stateOf)), ['gone', 'gone', 'gone'])
  await top.sees('no job contains this text')
  top.type('q')
  t.equal(await top.ended(), 0)
})

t.test('a build is opened with the end of its trace, retried and canceled', async t => {
  const [build] = await makePipeline(await factory.project(), 'job:\n  script: [make]\n')
  if (!build) throw new Error('no build')
  await endBuild(build, { status: 'failed', trace: `${'a line\n'.repeat(100)}the last line\n` })
  const top = await terminal(t, 'jobs top --interval 1')
  top.type('4')
  await top.sees(new RegExp(`> +${build.id} failed`))
  top.type('\r')
  await top.sees('the last line')
  const key = { build: build.id, attempt: 1 }
  await appendTrace(key, Buffer.from('and another line\n'))
  await top.sees('and another line')
  top.type('r')
  await top.sees(`build ${build.id} is retried as a new build`)
  top.type('\u001B')
  await top.sees('pending')
  top.type('g')
  await top.sees(/> +\d+ pending/)
  top.type('c')
  await top.sees(/cancel build \d+\? y\/n/)
  top.type('y')
  await top.sees(/build \d+ is canceled/)
  await top.sees(/> +\d+ canceled/)
  top.type('q')
  t.equal(await top.ended(), 0)
})

t.test('a failing hook is shown, and disappears when its receiver answers again', async t => {
  const { id } = await createHook({ url: 'https://user:secret@receiver.example.org/in?token=secret' }, someOrigin)
  await execute('update hooks set failures = 4 where id = ?', [id])
  const top = await terminal(t, 'jobs top --interval 1')
  await top.sees('hooks failing 1')
  top.type('6')
  await top.sees(/> +\d+ receiver\.example\.org\/in .* 4 /)
  t.notMatch(top.output(), 'secret')
  await execute('update hooks set failures = 0 where id = ?', [id])
  await top.sees('no hook fails')
  top.type('q')
  t.equal(await top.ended(), 0)
})

t.test('--read-only changes nothing', async t => {
  const id = await deadJob('first')
  const top = await terminal(t, 'jobs top --read-only')
  await top.sees('read-only')
  top.type('3dy')
  await top.sees('nothing changed: the dashboard runs with --read-only')
  top.type('rq')
  t.equal(await top.ended(), 0)
  t.equal(await stateOf(id), 'dead')
})

t.test('a signal ends the dashboard and restores the terminal', async t => {
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGHUP', 129]
  ] as const) {
    const top = await terminal(t, 'jobs top')
    await top.sees('[1 Queues]')
    process.kill(top.pid, signal)
    t.equal(await top.ended(), code)
    t.match(top.output().slice(top.output().lastIndexOf(LEFT)).length < 60, true)
    t.ok(top.output().includes(LEFT))
  }
})

t.test('the dashboard takes over the terminal again after it was stopped', async t => {
  const top = await terminal(t, 'jobs top')
  await top.sees('[1 Queues]')
  const tty = readlinkSync(`/proc/${top.pid}/fd/0`)
  const stty = (...words: string[]) => execFileSync('stty', ['-F', tty, ...words], { encoding: 'utf8' })
  const state = () => /^State:\s+(\S)/m.exec(readFileSync(`/proc/${top.pid}/status`, 'utf8'))?.[1]
  const before = top.output().length
  top.type('\x1a')
  await until('Ctrl-Z stops it', () => state() === 'T')
  t.match(stty('-a'), / icanon/, 'the keyboard is restored')
  stty('sane')
  await until('the screen was given back, and is taken again', () => {
    // script(1) stops together with its child, sometimes before it has passed on all output, and continues before it.
    for (const pid of [top.child.pid ?? top.pid, top.pid]) process.kill(pid, 'SIGCONT')
    const since = top.output().slice(before)
    return since.includes(LEFT) && !since.endsWith(LEFT)
  })
  await until('the keyboard is taken again', () => / -icanon/.test(stty('-a')))
  await top.sees('[1 Queues]')
  top.type('2')
  await top.sees('[2 Processes]')
  top.type('q')
  t.equal(await top.ended(), 0)
})

t.test('the dashboard continues after the database was down', async t => {
  const top = await terminal(t, 'jobs top --interval 1')
  await top.sees(/> default +active +0/)
  process.kill(database.pid, 'SIGKILL')
  await database.ended
  await top.sees('no answer: the database is not available')
  t.match(top.lines().join('\n'), /> default +active/, 'the last values stay')
  top.type('p')
  await top.sees('no answer: the database is not available')
  database = await startEmbedded()
  await enqueue('event.published', eventJob('a'))
  // The pause succeeds if the database is back in time for its statement, otherwise it fails.
  await top.sees(/> default +(active|paused) +1/)
  await until('the messages are gone', () => !/no answer|not done/.test(top.lines().join('\n')))
  top.type('q')
  t.equal(await top.ended(), 0)
})

t.test('with NO_COLOR there are no colors', async t => {
  await deadJob('first')
  const colours = /\u001B\[(3[0-7]|9[0-7]|38;[\d;]+)m/
  const top = await terminal(t, 'jobs top', { NO_COLOR: '1' })
  await top.sees('dead')
  top.type('q')
  await top.ended()
  t.notMatch(top.output(), colours)
  const colourful = await terminal(t, 'jobs top')
  await colourful.sees('dead')
  colourful.type('q')
  await colourful.ended()
  t.match(colourful.output(), colours)
})

t.test('--once prints one plain frame, in a terminal and in a pipe', async t => {
  await deadJob('first')
  const piped = await cli(['jobs', 'top', '--once'], { environment })
  t.equal(piped.code, 0)
  t.notMatch(piped.stdout, /[\u0000-\u0009\u000b-\u001f]/)
  t.match(piped.stdout, /^gitstead jobs top .*\n(.*\n)*.*Error: first is broken/)
  t.ok(piped.stdout.split('\n').every(line => stringWidth(line) <= 80))
  const top = await terminal(t, 'jobs top --once')
  t.equal(await top.ended(), 0)
  t.notMatch(top.output(), /\u001B/)
})

t.test('--json prints the record of the API', async t => {
  const { code, json } = await cli(['jobs', 'top', '--json'], { environment })
  t.equal(code, 0)
  t.same(Object.keys(json()), ['at', 'queues', 'processes', 'failures', 'builds', 'hooks', 'mail', 'totals'])
})

t.test('each error is one line with its exit code', async t => {
  const token = join(t.testdir({ token: 'x\n', empty: '\n' }), 'token')
  const nobody = `http://127.0.0.1:${await freePort()}`
  const cases: [args: string[], code: number, text: RegExp][] = [
    [[], 2, /this is not a terminal: add --once/],
    [['--interval', '0'], 2, /interval/],
    [['--token-file', token], 2, /--url/],
    [['--once', '--url', nobody], 2, /--url needs a token/],
    [['--once', '--url', nobody, '--token-file', '/nowhere'], 2, /cannot be read \(ENOENT\)/],
    [['--once', '--url', nobody, '--token-file', join(token, '../empty')], 2, /the token is empty/],
    [['--once', '--url', nobody, '--token-file', token, '--token-stdin'], 2, /use only one of --token-file/],
    [['--once', '--url', 'nowhere', '--token-file', token], 1, /--url must be/],
    [['--once', '--url', nobody, '--token-file', token, '--token', 'x'], 2, /use only one of --token-file/],
    [['--once', '--url', nobody, '--token', ''], 2, /the token is empty/],
    [['--once', '--url', nobody, '--token', 'x'], 5, /does not answer \(ECONNREFUSED\)/],
    [['--once', '--url', nobody, '--token-file', token], 5, /does not answer \(ECONNREFUSED\)/]
  ]
  for (const [args, code, text] of cases) {
    const found = await cli(['jobs', 'top', ...args], { environment })
    t.equal(found.code, code, args.join(' '))
    t.match(found.stderr, text)
    t.match(found.stderr, /^gitstead: [^\n]+\n$/)
    t.equal(found.stdout, '')
  }
})

t.test('the dashboard ends with exit code 5 when the appliance is down, and does not start it', async t => {
  const down = join(t.testdir(), 'home')
  writeFileSync(join(t.testdirName, 'note'), '')
  const top = await terminal(t, 'jobs top', { GITSTEAD_HOME: down })
  t.equal(await top.ended(), 5)
  t.match(top.output(), /gitstead: the appliance is down: start it with gitstead up/)
  t.notMatch(top.output(), /\u001B\[\?1049h/)
})

// Measures CI with a million builds in the database: the time of a claim, lists of builds, pieces of traces through the protocol
// of outside runners, the cost of 200 runners that poll without getting work, how soon one of them gets a build, and an archive
// of 1 GB.
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { nobody, originOf } from '../src/access/actor.js'
import { claimNext } from '../src/areas/ci/runners/claim-next.js'
import { announceRunner } from '../src/areas/ci/runners/external/registration.js'
import type { RunnerRow } from '../src/areas/ci/runners/runners.queries.js'
import { row } from '../src/db/connect/sql.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { median, percentile, report } from './lib/figure.js'
import { get, rate, stopLoad } from './lib/load.js'
import { cpuOf, residentOf } from './lib/processes.js'
import { ask, commitFile, createProject } from './lib/rest.js'
import { seedBuilds } from './lib/seed.js'

const BUILDS = 1_000_000
const CLAIMS = 300
const WRITERS = 8
const TRACE_MS = 6000
const PIECE = Buffer.from(`${'x'.repeat(255)}\n`)
const POLLERS = 200
/** Seconds between two polls of a stock runner. */
const POLL_S = 3
const WATCH_MS = 15_000
const WAITS = 30
const ARCHIVE = 1024 ** 3
const CI_FILE = 'job: {script: [make]}\n'

const agent = new Agent({ keepAlive: true, maxSockets: 256 })
const origin = originOf(nobody, null)

interface Sent {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

interface Sending {
  readonly headers: object
  readonly body: Buffer
  /** The address of the client. */
  readonly from?: string | undefined
}

function send(
  port: number,
  method: string,
  path: string,
  { headers, body, from = '127.0.0.1' }: Sending
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      localAddress: from,
      port,
      method,
      path,
      agent,
      headers: { ...headers, 'content-length': body.length }
    }
    const call = httpRequest(options, async answer => {
      let text = ''
      for await (const chunk of answer) text += String(chunk)
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text })
    })
    call.once('error', reject)
    call.end(body)
  })
}

interface Question {
  readonly token: string
  /** The value of the last answer without a build, which a stock runner sends again. */
  readonly last_update?: string | undefined
}

const askForJob = (port: number, question: Question, from?: string) =>
  send(port, 'POST', '/api/v4/jobs/request', {
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(question)),
    from
  })

interface Job {
  readonly id: number
  readonly token: string
}

async function newRunner(): Promise<{ token: string; row: RunnerRow }> {
  const { id, token } = await announceRunner(null, { description: 'bench' }, origin)
  const found = await row<RunnerRow>('select * from runners where id = ?', [id])
  if (!found) throw new Error('no runner')
  return { token, row: found }
}

async function makePending(appliance: Prepared, project: { id: number }, count: number): Promise<void> {
  for (let made = 0; made < count; made++)
    await ask(appliance, 'POST', `/projects/${project.id}/pipeline`, { ref: 'master' })
}

async function measureClaims(runner: RunnerRow): Promise<void> {
  const times: number[] = []
  for (let at = 0; at < CLAIMS; at++) {
    const started = performance.now()
    if (!(await claimNext(runner))) throw new Error('nothing to claim')
    times.push(performance.now() - started)
  }
  const detail = { p99: percentile(times, 0.99), builds: BUILDS, claims: CLAIMS }
  report({ name: 'claim of a build', value: median(times), unit: 'ms', limit: 5, better: 'lower', detail })
}

/** Each writer has its own build and waits for each answer, as runners do. */
async function measureTraces({ port, parts }: Prepared, jobs: readonly Job[]): Promise<void> {
  const before = cpuOf(parts.server)
  const until = performance.now() + TRACE_MS
  let pieces = 0
  await Promise.all(
    jobs.map(async ({ id, token }) => {
      for (let at = 0; performance.now() < until; at += PIECE.length) {
        const headers = {
          'job-token': token,
          'content-type': 'text/plain',
          'content-range': `${at}-${at + PIECE.length - 1}`
        }
        const { status } = await send(port, 'PATCH', `/api/v4/jobs/${id}/trace`, { headers, body: PIECE })
        if (status !== 202) throw new Error(`a piece of a trace was answered with ${status}`)
        pieces++
      }
    })
  )
  const seconds = TRACE_MS / 1000
  const detail = { writers: jobs.length, server_cores: (cpuOf(parts.server) - before) / seconds }
  report({ name: 'pieces of traces', value: pieces / seconds, unit: 'pieces/s', limit: 2000, better: 'higher', detail })
}

const WRITTEN = ['INNODB_ROWS_INSERTED', 'INNODB_ROWS_UPDATED', 'INNODB_ROWS_DELETED']

async function rowsWritten(): Promise<number> {
  const found = await row<{ total: string }>(
    `select sum(variable_value) as total from information_schema.global_status
     where variable_name in (${WRITTEN.map(name => `'${name}'`).join(', ')})`
  )
  return Number(found?.total ?? 0)
}

/** Returns the cost of the appliance over some seconds: the share of a core, and the written rows. */
async function watch({ parts }: Prepared): Promise<{ cores: number; rows: number }> {
  const cpu = () => cpuOf(parts.server) + cpuOf(parts.database)
  const [before, written] = [cpu(), await rowsWritten()]
  await sleep(WATCH_MS)
  return { cores: (cpu() - before) / (WATCH_MS / 1000), rows: (await rowsWritten()) - written }
}

/**
 * Runners that poll until `stop` aborts, each from its own address. Runners that send the value of their last answer get an
 * answer when it changes, or after `runner.long_poll`.
 */
async function pollAll(
  { port }: Prepared,
  tokens: readonly string[],
  shows: boolean,
  stop: AbortSignal
): Promise<void> {
  const poll = async (token: string, at: number) => {
    await sleep((at / tokens.length) * POLL_S * 1000)
    let value: string | undefined
    while (!stop.aborted) {
      const { status, headers } = await askForJob(port, { token, last_update: value }, `127.0.1.${at + 1}`)
      if (status !== 204) throw new Error(`a poll for work was answered with ${status}`)
      if (shows) value = String(headers['x-gitlab-last-update'])
      await sleep(POLL_S * 1000)
    }
  }
  await Promise.all(tokens.map(poll))
}

async function measurePollers(appliance: Prepared, tokens: readonly string[]): Promise<void> {
  const idle = await watch(appliance)
  for (const shows of [true, false]) {
    const stop = new AbortController()
    const polling = pollAll(appliance, tokens, shows, stop.signal)
    await sleep(2 * POLL_S * 1000)
    const busy = await watch(appliance)
    stop.abort()
    await polling
    const detail = { idle_cores: idle.cores, rows_idle: idle.rows, rows_polled: busy.rows, runners: tokens.length }
    const value = (busy.cores - idle.cores) * 100
    const name = `200 runners that poll without getting work${shows ? '' : ', and send no value of their last answer'}`
    report({ name, value, unit: '% of a core', limit: shows ? 5 : null, better: 'lower', detail })
  }
}

/** Measures how soon a runner gets a build that becomes pending while its poll is open. */
async function measureWaiting(appliance: Prepared, project: { id: number }, token: string): Promise<void> {
  const { port } = appliance
  const times: number[] = []
  while (times.length < WAITS) {
    const { headers } = await askForJob(port, { token })
    const answer = askForJob(port, { token, last_update: String(headers['x-gitlab-last-update']) })
    await sleep(200 + Math.random() * 100)
    await makePending(appliance, project, 1)
    const started = performance.now()
    const { status } = await answer
    if (status !== 201) throw new Error(`an open poll for work was answered with ${status}`)
    times.push(performance.now() - started)
  }
  const detail = { p99_ms: percentile(times, 0.99), builds: WAITS }
  report({
    name: 'pipeline made by the API to its build at a runner that waits',
    value: median(times),
    unit: 'ms p50',
    limit: null,
    better: 'lower',
    detail
  })
}

async function measureArchive({ port, parts }: Prepared, { id, token }: Job): Promise<void> {
  const before = residentOf(parts.server).now
  const chunk = Buffer.alloc(1_048_576, 'gitstead')
  const headers = { 'job-token': token, 'content-type': 'multipart/form-data; boundary=bench' }
  const started = performance.now()
  let peak = 0
  const watcher = setInterval(() => (peak = Math.max(peak, residentOf(parts.server).now)), 50)
  const status = await new Promise<number>((resolve, reject) => {
    const path = `/api/v4/jobs/${id}/artifacts`
    const call = httpRequest({ host: '127.0.0.1', port, method: 'POST', path, headers, agent }, answer => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
    })
    call.once('error', reject)
    call.write(
      '--bench\r\ncontent-disposition: form-data; name="file"; filename="a.zip"\r\ncontent-type: application/zip\r\n\r\n'
    )
    let left = ARCHIVE
    const more = () => {
      while (left > 0) {
        left -= chunk.length
        if (!call.write(chunk)) return call.once('drain', more)
      }
      return call.end('\r\n--bench--\r\n')
    }
    more()
  })
  clearInterval(watcher)
  if (status !== 201) throw new Error(`the archive was answered with ${status}`)
  const detail = { seconds: (performance.now() - started) / 1000, before_mb: before, peak_mb: peak }
  report({
    name: 'memory for an archive of 1 GB',
    value: peak - before,
    unit: 'MB',
    limit: 256,
    better: 'lower',
    detail
  })
}

async function takeJobs(port: number, token: string, count: number): Promise<Job[]> {
  const jobs: Job[] = []
  while (jobs.length < count) {
    const { status, text } = await askForJob(port, { token })
    if (status !== 201) throw new Error(`a poll for work was answered with ${status}`)
    jobs.push(JSON.parse(text) as Job)
  }
  return jobs
}

async function measure(appliance: Prepared): Promise<void> {
  const project = await createProject(appliance, 'built')
  await commitFile(appliance, project, '.gitstead-ci.yml', CI_FILE)
  const { id: sha } = await ask<{ id: string }>(appliance, 'GET', `/projects/${project.id}/repository/commits/master`)
  await seedBuilds(project.id, appliance.admin.id, BUILDS / 4, [sha])
  const runner = await newRunner()
  await makePending(appliance, project, CLAIMS + WRITERS + 1)
  await measureClaims(runner.row)
  const [archived, ...jobs] = await takeJobs(appliance.port, runner.token, WRITERS + 1)
  await measureTraces(appliance, jobs)
  if (archived) await measureArchive(appliance, archived)
  // The push of the CI file has made a build, too.
  while ((await askForJob(appliance.port, { token: runner.token })).status === 201);
  await measureWaiting(appliance, project, runner.token)
  const tokens: string[] = []
  for (let at = 0; at < POLLERS; at++) tokens.push((await newRunner()).token)
  await measurePollers(appliance, tokens)
  const request = get(`/api/v3/projects/${project.id}/builds`, appliance.admin.token)
  const { perSecond, ...detail } = await rate({
    port: appliance.port,
    requests: [request],
    connections: 16,
    parts: appliance.parts
  })
  const name = 'list of builds, of a project with a million'
  report({ name, value: perSecond, unit: 'requests/s', limit: null, better: 'higher', detail })
}

const environment = { GITSTEAD_QUEUE_CONCURRENCY_BUILDS: '0', GITSTEAD_ARTIFACTS_MAX_SIZE: String(2 * ARCHIVE) }
await withAppliance({ environment }, measure)
agent.destroy()
stopLoad()

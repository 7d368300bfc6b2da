// Measures clone, push and the list of refs over HTTP, compared in turns with git's own http-backend on the same repositories:
// the time, and the processor time of the server with its git processes.
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { optimiseRepository } from '../src/areas/code/repository/optimise.js'
import { repositoryPath } from '../src/areas/projects/projects/repositories.js'
import { row } from '../src/db/connect/sql.js'
import { pauseQueue } from '../src/queue/administer.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { temporaryFolder } from './lib/clean-up.js'
import { median, report } from './lib/figure.js'
import { authorization, runGit } from './lib/git.js'
import { bigRepository } from './lib/history.js'
import { cpuOf } from './lib/processes.js'
import { type Served, serve } from './lib/program.js'
import { createProject, type ProjectRecord } from './lib/rest.js'

const LIMIT = 1.1

interface Bench {
  readonly appliance: Prepared
  readonly backend: Served
  readonly folder: string
}

type Side = 'ours' | 'git'
const SIDES: readonly Side[] = ['ours', 'git']

/** The URL of a project's repository, at our server or at http-backend. */
function urlOf({ appliance, backend }: Bench, side: Side, project: ProjectRecord): string {
  if (side === 'ours') return `${appliance.url}/${project.path_with_namespace}.git`
  const path = repositoryPath({ id: project.id, storage: 'default' })
  return `http://127.0.0.1:${backend.port}/${relative(join(appliance.home, 'repositories'), path)}`
}

/**
 * Makes a repository of 50 MB of incompressible data in 200 files: enough files that git keeps them in one pack.
 */
async function randomRepository(folder: string): Promise<string> {
  const path = join(folder, 'random.git')
  await runGit(['init', '--quiet', '--bare', '--initial-branch=master', path])
  await runGit(['-C', path, 'config', 'pack.window', '0'])
  const parts = [
    Buffer.from('commit refs/heads/master\ncommitter Bench <bench@example.org> 1500000000 +0000\ndata 4\nAdd\n')
  ]
  for (let number = 0; number < 200; number++) {
    parts.push(Buffer.from(`M 100644 inline file-${number}\ndata 262144\n`), randomBytes(262_144), Buffer.from('\n'))
  }
  await runGit(['-C', path, 'fast-import', '--quiet'], Buffer.concat(parts))
  return path
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}

function publish(name: string, times: Record<Side, number[]>): void {
  const [ours, git] = [median(times.ours), median(times.git)]
  report({
    name,
    value: ours / git,
    unit: "of http-backend's time",
    limit: LIMIT,
    better: 'lower',
    comparison: `${ours.toFixed(2)} s against ${git.toFixed(2)} s`
  })
}

/** Waits until all jobs are done, so that the effects of one push do not slow down the next. */
async function quiet(): Promise<void> {
  while (await row("select 1 as busy from jobs where queue <> 'maintenance' limit 1")) await sleep(20)
}

/** Measures pushes, each into a new project. Returns our last project, which is cloned later. */
async function measurePush(bench: Bench, name: string, source: string, rounds: number): Promise<ProjectRecord> {
  const { appliance } = bench
  const access = authorization(appliance.admin.username, appliance.admin.token)
  const times: Record<Side, number[]> = { ours: [], git: [] }
  let last: ProjectRecord | undefined
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? SIDES : [...SIDES].reverse()) {
      const project = await createProject(appliance, `${name} ${round} ${side}`.replace(',', ''), { public: true })
      const url = urlOf(bench, side, project)
      times[side].push(await timed(() => runGit([...access, '-C', source, 'push', '--quiet', '--mirror', url])))
      if (side === 'ours') last = project
      await quiet()
    }
  }
  publish(`push, ${name}`, times)
  if (!last) throw new Error('nothing was pushed')
  return last
}

async function measureClone(bench: Bench, name: string, project: ProjectRecord, rounds: number): Promise<void> {
  const times: Record<Side, number[]> = { ours: [], git: [] }
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? SIDES : [...SIDES].reverse()) {
      const into = join(bench.folder, 'clone.git')
      times[side].push(await timed(() => runGit(['clone', '--quiet', '--bare', urlOf(bench, side, project), into])))
      rmSync(into, { recursive: true })
    }
  }
  publish(`clone, ${name}`, times)
}

/** Runs the same work on both sides, in turns, and reports times and processor seconds. */
async function compare(
  bench: Bench,
  name: string,
  { rounds, limit, work }: { rounds: number; limit: number; work: (side: Side) => Promise<unknown> }
): Promise<void> {
  const times: Record<Side, number[]> = { ours: [], git: [] }
  const cpu: Record<Side, number[]> = { ours: [], git: [] }
  const pids = { ours: bench.appliance.parts.server, git: bench.backend.pid }
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? SIDES : [...SIDES].reverse()) {
      const before = cpuOf(pids[side])
      times[side].push(await timed(() => work(side)))
      cpu[side].push(cpuOf(pids[side]) - before)
    }
  }
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  report({
    name,
    value: median(times.ours) / median(times.git),
    unit: "of http-backend's time",
    limit,
    better: 'lower',
    comparison: `${median(times.ours).toFixed(3)} s against ${median(times.git).toFixed(3)} s`,
    detail: { 'processor s': mean(cpu.ours), "http-backend's processor s": mean(cpu.git) }
  })
}

const LISTS = 20
const AT_ONCE = 20
const ADVERTISEMENTS = 200

/** Measures the list of refs over one connection, with which every git client begins. */
async function measureAdvertisement(bench: Bench, project: ProjectRecord): Promise<void> {
  const url = `${urlOf(bench, 'ours', project)}/info/refs?service=git-upload-pack`
  const times: number[] = []
  for (let at = 0; at < ADVERTISEMENTS; at++) {
    times.push(await timed(async () => (await fetch(url)).arrayBuffer()))
  }
  report({ name: 'advertisement', value: median(times) * 1000, unit: 'ms p50', limit: 5, better: 'lower' })
}

/** Measures the most frequent requests for a repository with a long history: its refs, all of it, and many clones at once. */
async function measureReaders(bench: Bench, project: ProjectRecord): Promise<void> {
  let from = (side: Side) => urlOf(bench, side, project)
  const into = (number = 0) => join(bench.folder, `mirror-${number}.git`)
  const clone = async (side: Side, number = 0, agent = 'bench') => {
    await runGit(['clone', '--quiet', '--mirror', from(side), into(number)], '', { GIT_USER_AGENT: agent })
    rmSync(into(number), { recursive: true })
  }
  let first = 0
  // A different agent makes a different request, for which no answer is kept.
  const firstClone = (side: Side) => clone(side, 0, `bench/${first++}`)
  const lists = async (side: Side) => {
    for (let at = 0; at < LISTS; at++) await runGit(['ls-remote', '--quiet', from(side)])
  }
  const many = (side: Side) => Promise.all(Array.from({ length: AT_ONCE }, (_, at) => clone(side, at)))
  await measureAdvertisement(bench, project)
  await compare(bench, `ls-remote, ${LISTS} times`, { rounds: 5, limit: 1, work: lists })
  await compare(bench, 'first mirror clone, 80,000 commits', { rounds: 3, limit: LIMIT, work: firstClone })
  await compare(bench, 'mirror clone with the kept answer', { rounds: 3, limit: LIMIT, work: clone })
  const small = await createProject(bench.appliance, 'four thousand', { public: true })
  const access = authorization(bench.appliance.admin.username, bench.appliance.admin.token)
  const url = urlOf(bench, 'ours', small)
  await runGit([...access, '-C', await bigRepository(), 'push', '--quiet', url, 'refs/tags/v1^{}:refs/heads/master'])
  await quiet()
  await optimiseRepository(small.id)
  from = side => urlOf(bench, side, small)
  await compare(bench, `${AT_ONCE} clones at once, 4,000 commits`, { rounds: 3, limit: LIMIT, work: many })
}

async function measure(appliance: Prepared): Promise<void> {
  const folder = temporaryFolder()
  await pauseQueue('maintenance')
  const backend = await serve('http-backend', [join(appliance.home, 'repositories')])
  const bench = { appliance, backend, folder }
  const random = await measurePush(bench, '50 MB of random bytes', await randomRepository(folder), 3)
  await measureClone(bench, '50 MB of random bytes', random, 3)
  const history = await measurePush(bench, '80,000 commits', await bigRepository(), 3)
  await measureClone(bench, '80,000 commits', history, 3)
  // The job that follows a push waits here with the others of its queue.
  await optimiseRepository(history.id)
  await measureReaders(bench, history)
  backend.stop()
}

await withAppliance({}, measure)

// Measures lists of commits, diffs, comparisons, contributors and archives through the API on a repository of 80,000 commits,
// each compared with a git process that does the same work.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { countCost } from './lib/cost.js'
import { median, percentile, report } from './lib/figure.js'
import { runGit } from './lib/git.js'
import { bigRepository, FILE_COUNT, pathOfFile } from './lib/history.js'
import { burst, get, stopLoad } from './lib/load.js'
import { type PushedHistory, pushHistory } from './lib/pushed-history.js'

interface Bench extends PushedHistory {
  readonly appliance: Prepared
  readonly base: string
  readonly commits: readonly string[]
}

interface Case {
  readonly name: string
  readonly limit: number
  readonly paths: readonly string[]
  /** The arguments of git for the same result. */
  readonly args: readonly string[]
}

/** Milliseconds of one git process, the median of some. */
async function processTime(repository: string, args: readonly string[]): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 7; round++) times.push(await timed(() => runGit(['-C', repository, ...args])))
  return median(times)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Reads every path once: no answer is in a cache. */
async function measureRate({ appliance, repository }: Bench, { name, limit, paths, args }: Case): Promise<void> {
  const { port, admin } = appliance
  const requests = paths.map(path => get(path, admin.token))
  const load = { port, requests, connections: 16, milliseconds: 60_000, most: paths.length }
  const cost = countCost(appliance.parts)
  const { perSecond, p50, p99, count } = await burst(load)
  const spent = cost(count)
  const single = await processTime(repository, args)
  const detail = { p50_ms: p50, p99_ms: p99, different: count, 'one git process ms': single, ...spent }
  report({ name: `history, ${name}`, value: perSecond, unit: 'requests/s', limit, better: 'higher', detail })
}

/** Fetches an answer to its end, and returns its milliseconds and bytes. */
async function fetched({ appliance }: Bench, path: string): Promise<{ ms: number; bytes: number }> {
  let bytes = 0
  const ms = await timed(async () => {
    const headers = { 'private-token': appliance.admin.token }
    const res = await fetch(`${appliance.url}${path}`, { headers })
    if (res.status !== 200 || !res.body) throw new Error(`${path}: ${res.status}`)
    for await (const chunk of res.body) bytes += (chunk as Uint8Array).length
  })
  return { ms, bytes }
}

async function measureCompare(bench: Bench): Promise<void> {
  const { base, commits, repository } = bench
  const pairs = Array.from({ length: 40 }, (_, at) => [commits[at * 300 + 200], commits[at * 300]] as const)
  const times: number[] = []
  for (const [from, to] of pairs) times.push((await fetched(bench, `${base}/compare?from=${from}&to=${to}`)).ms)
  const [from, to] = pairs[0] as readonly [string, string]
  report({
    name: 'history, comparison of 200 commits, p90',
    value: percentile(times, 0.9),
    unit: 'ms',
    limit: 300,
    better: 'lower',
    detail: {
      p50_ms: median(times),
      different: times.length,
      'only git diff ms': await processTime(repository, ['diff', '-M', `${from}...${to}`])
    }
  })
}

async function measureArchive(bench: Bench, format: string): Promise<void> {
  const { appliance, base, repository, commits } = bench
  const [ours, gits]: [number[], number[]] = [[], []]
  for (let round = 0; round < 3; round++) {
    rmSync(join(appliance.home, 'cache/archives'), { recursive: true, force: true })
    const { ms } = await fetched(bench, `${base}/archive.${format}?sha=${commits[round]}`)
    ours.push(ms)
    gits.push(
      await timed(() =>
        runGit(['-C', repository, 'archive', `--format=${format}`, '-o', '/dev/null', String(commits[round])])
      )
    )
  }
  const kept = await fetched(bench, `${base}/archive.${format}?sha=${commits[2]}`)
  report({
    name: `history, archive ${format}, never asked for before`,
    value: median(ours) / median(gits),
    unit: 'of git archive',
    limit: 1.1,
    better: 'lower',
    comparison: `${Math.round(median(ours))} ms against ${Math.round(median(gits))} ms`,
    detail: { 'asked for again ms': kept.ms, MB: kept.bytes / 1e6 }
  })
}

async function measureContributors(bench: Bench): Promise<void> {
  const ask = async () => {
    const { appliance, base } = bench
    const headers = { 'private-token': appliance.admin.token }
    for (;;) {
      const { status } = await fetch(`${appliance.url}${base}/contributors`, { headers })
      if (status === 200) return
      if (status !== 503) throw new Error(`contributors: ${status}`)
    }
  }
  const first = await timed(ask)
  report({
    name: 'history, contributors, never asked for before',
    value: first,
    unit: 'ms',
    limit: null,
    better: 'lower',
    detail: { 'asked for again ms': await timed(ask) }
  })
}

async function measure(appliance: Prepared): Promise<void> {
  const source = await bigRepository()
  const pushed = await pushHistory(appliance, source)
  const commits = (await runGit(['-C', source, 'rev-list', '--max-count=20000', 'master'])).split('\n')
  const base = `/api/v3/projects/${pushed.project.id}/repository`
  const bench = { ...pushed, appliance, base, commits }
  const list = (at: number) => `${base}/commits?ref_name=${commits[at]}`
  // A server that has just started compiles its code while it answers its first requests.
  await burst({
    port: appliance.port,
    requests: commits.slice(19_000, 19_500).map((_, at) => get(list(19_000 + at), appliance.admin.token)),
    connections: 16,
    milliseconds: 20_000,
    most: 500
  })
  await measureRate(bench, {
    name: 'lists of 20 commits, never read before',
    limit: 300,
    paths: Array.from({ length: 900 }, (_, at) => list(at * 20)),
    args: ['log', '-20', 'master']
  })
  await measureRate(bench, {
    name: 'pages of 20 commits of one branch',
    limit: 300,
    paths: Array.from({ length: 1000 }, (_, at) => `${base}/commits?page=${at * 4}`),
    args: ['log', '-20', '--skip=40000', 'master']
  })
  await measureRate(bench, {
    name: 'diffs of commits, never read before',
    limit: 300,
    paths: commits.slice(3000, 5000).map(id => `${base}/commits/${id}/diff`),
    args: ['show', '-M', String(commits[4000])]
  })
  await measureRate(bench, {
    name: 'last commit of a path',
    limit: 100,
    paths: Array.from(
      { length: 500 },
      (_, at) => `${base}/commits?per_page=1&path=${pathOfFile((at * 7) % FILE_COUNT)}`
    ),
    args: ['log', '-1', 'master', '--', pathOfFile(7)]
  })
  await measureCompare(bench)
  for (const format of ['tar.gz', 'tar']) await measureArchive(bench, format)
  await measureContributors(bench)
}

await withAppliance({}, measure)
stopLoad()

// Measures the mixed load of design 10 on 100,000 projects and a million builds: the highest rate of operations with a p90
// under 200 ms and no error, the time of each kind of operation, and the cost of all of it. `--long` runs that load for ten
// minutes and reports the memory. `--rate N` uses this rate instead of searching for the highest one, `--share 0.8` runs the load
// at this share of it, and `--minutes N` sets how long the load lasts. `--each` measures the kinds one after the other instead:
// the processor time and the statements of an operation.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { rows } from '../src/db/connect/sql.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { countCost, descendantsOf } from './lib/cost.js'
import { report } from './lib/figure.js'
import { BUILDS, type Dataset, homeWithData } from './lib/mixed/dataset.js'
import { type OpenResult, runOpenLoad } from './lib/mixed/open-load.js'
import { residentOf } from './lib/processes.js'

const LIMIT_MS = 200
const GOAL = 1000
const FIRST = 150
const GROWTH = 1.4
/** The search ends when the next step would be smaller than this. */
const FINE = 1.08
const STEP_MS = 6000
const WARM_MS = 6000
const LONG_MINUTES = 10
const SHORT_MINUTES = 0.25
const LOOK_MS = 1000
/** For `--each`: operations in a second, how long, and the time for the jobs that they leave. */
const EACH_READ = 600
const EACH_WRITE = 80
const EACH_MS = 4000
const AFTER_MS = 1500
const WRITES = /^(new|change|commit of|push|clone)/

const { values: options } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    each: { type: 'boolean', default: false },
    rate: { type: 'string' },
    share: { type: 'string', default: '1' },
    minutes: { type: 'string' }
  }
})

const share = Number(options.share)
if (!(share > 0 && share <= 1)) throw new Error('--share needs a number above 0 and up to 1')

interface Load {
  readonly appliance: Prepared
  readonly dataset: Dataset
}

// Writes stay in the data, so each run needs different names.
let seed = 0
const run = ({ appliance, dataset }: Load, perSecond: number, milliseconds: number, only?: string) =>
  runOpenLoad({ port: appliance.port, dataset, seed: ++seed, perSecond, milliseconds, ...(only && { only }) })

const isGood = ({ p90, errorCount, overrun }: OpenResult) => p90 < LIMIT_MS && errorCount === 0 && !overrun

/** Raises the rate until a step fails, and then halves the distance to the last good rate. */
async function highestRate(load: Load): Promise<number> {
  let good = 0
  let bad = Number.POSITIVE_INFINITY
  for (let rate = FIRST; bad / Math.max(good, 1) > FINE; ) {
    const result = await run(load, rate, STEP_MS)
    publish(rate, result)
    if (isGood(result)) good = rate
    else bad = rate
    if (good === 0 && rate < 20) break
    rate = Math.round(bad === Number.POSITIVE_INFINITY ? good * GROWTH : good === 0 ? rate / 2 : Math.sqrt(good * bad))
    if (rate === good || rate === bad) break
  }
  return good
}

function publish(rate: number, { p50, p90, p99, errors, errorCount, overrun, connections }: OpenResult): void {
  const ms = (value: number) => `${Math.round(value)} ms`
  const ended = overrun ? ', ended early: too many operations waited' : ''
  process.stderr.write(
    `bench: ${rate}/s: p50 ${ms(p50)}, p90 ${ms(p90)}, p99 ${ms(p99)}, ${errorCount} errors, ${connections} connections${ended}\n`
  )
  for (const [text, count] of Object.entries(errors).slice(0, 5)) process.stderr.write(`bench:   ${count} x ${text}\n`)
}

interface Resident {
  server: number
  worker: number
  database: number
  git: number
}

function residentNow({ server, worker, database }: Prepared['parts']): Resident {
  const git = [...descendantsOf(server), ...descendantsOf(worker)].reduce((sum, pid) => sum + residentOf(pid).now, 0)
  return { server: residentOf(server).now, worker: residentOf(worker).now, database: residentOf(database).now, git }
}

/** Watches the memory during `work`: the kernel keeps the peak of each process; for git, this adds up its processes. */
async function watchMemory<T>({ parts }: Prepared, work: () => Promise<T>) {
  const start = residentNow(parts)
  let git = 0
  const timer = setInterval(() => (git = Math.max(git, residentNow(parts).git)), LOOK_MS)
  const result = await work()
  clearInterval(timer)
  const peakOf = (name: 'server' | 'worker' | 'database') => residentOf(parts[name]).peak
  const peak = { server: peakOf('server'), worker: peakOf('worker'), database: peakOf('database'), git }
  return { result, memory: { start, peak, end: residentNow(parts) } }
}

async function measure(load: Load): Promise<void> {
  const { appliance } = load
  // A new server compiles code during its first second, and the tables are not in memory yet.
  await run(load, Math.min(Number(options.rate ?? FIRST), FIRST), WARM_MS)
  const highest = options.rate === undefined ? await highestRate(load) : Number(options.rate)
  if (highest === 0) throw new Error('no rate keeps the limit')
  const rate = Math.round(highest * share)
  const minutes = Number(options.minutes ?? (options.long ? LONG_MINUTES : SHORT_MINUTES))
  const cost = countCost(appliance.parts)
  const { result, memory } = await watchMemory(appliance, () => run(load, rate, minutes * 60_000))
  publish(rate, result)
  const { processor_ms, ...each } = cost(result.count)
  const { p50, p90, p99, worst, count, errorCount } = result
  report({
    name: 'mixed load, highest rate',
    value: highest,
    unit: 'operations/s',
    limit: GOAL,
    better: 'higher',
    detail: {
      load: rate,
      p50_ms: p50,
      p90_ms: p90,
      p99_ms: p99,
      worst_ms: worst,
      errors: errorCount,
      operations: count,
      minutes,
      builds: BUILDS
    }
  })
  report({
    name: 'mixed load, cost',
    value: processor_ms,
    unit: 'processor ms each',
    limit: null,
    better: 'lower',
    detail: each
  })
  for (const { kind, ...times } of [...result.kinds].sort((a, b) => b.count - a.count)) {
    const detail = {
      p50_ms: times.p50,
      p99_ms: times.p99,
      percent: (times.count / count) * 100,
      operations: times.count
    }
    report({ name: `mixed load, ${kind}`, value: times.p90, unit: 'ms p90', limit: null, better: 'lower', detail })
  }
  for (const name of ['server', 'worker', 'database', 'git'] as const) {
    const detail = { at_start: memory.start[name], after: memory.end[name], minutes }
    report({
      name: `mixed load, memory of ${name}`,
      value: memory.peak[name],
      unit: 'MB resident at its peak',
      limit: null,
      better: 'lower',
      detail
    })
  }
}

/** The number of statements that the database has executed. */
async function statements(): Promise<number> {
  const counts = await rows<{ Value: string }>(
    "show global status where Variable_name in ('Com_stmt_execute', 'Com_commit')"
  )
  return counts.reduce((sum, { Value }) => sum + Number(Value), 0)
}

/** Measures each kind, with the jobs that it leaves to the worker, at a rate that keeps a busy machine at work: idle times cost, too. */
async function measureEach(load: Load): Promise<void> {
  const { kinds } = await run(load, FIRST, WARM_MS)
  for (const { kind } of kinds) {
    const rate = WRITES.test(kind) ? EACH_WRITE : EACH_READ
    await run(load, rate, WARM_MS / 2, kind)
    const executed = await statements()
    const cost = countCost(load.appliance.parts)
    const { count, errors, p50 } = await run(load, rate, EACH_MS, kind)
    await sleep(AFTER_MS)
    const { processor_ms, ...parts } = cost(count)
    const detail = {
      ...parts,
      statements: ((await statements()) - executed) / count,
      p50_ms: p50,
      operations: count,
      errors
    }
    const name = `mixed load, only ${kind}`
    report({ name, value: processor_ms, unit: 'processor ms each', limit: null, better: 'lower', detail })
  }
}

const { home, dataset } = await homeWithData()
const work = options.each ? measureEach : measure
await withAppliance({ home, admin: dataset.admin }, appliance => work({ appliance, dataset }))

// Measures commits through the files API on one branch, one after the other and by several clients at once, while the worker
// handles their effects. The server is warm: Node.js compiles code that runs often, which takes some hundred commits. `first` is the rate before that.
import { type Prepared, withAppliance } from './lib/appliance.js'
import { countCost } from './lib/cost.js'
import { percentile, report } from './lib/figure.js'
import { commitFile, createProject, type ProjectRecord } from './lib/rest.js'

const COMMITS = 500
const ROUNDS = 3
/** How many clients commit at once. */
const CROWDS = [1, 4, 24]
/** The commits of a crowd together. */
const CROWD_COMMITS = 240

interface Round {
  readonly perSecond: number
  /** Milliseconds of each commit. */
  readonly took: readonly number[]
}

async function commitRound(appliance: Prepared, project: ProjectRecord, round: number): Promise<Round> {
  const took: number[] = []
  const started = performance.now()
  for (let number = round * COMMITS; number < (round + 1) * COMMITS; number++) {
    const asked = performance.now()
    await commitFile(appliance, project, `folder-${number % 20}/inner/file-${number}.txt`, `content ${number}\n`)
    took.push(performance.now() - asked)
  }
  return { perSecond: COMMITS / ((performance.now() - started) / 1000), took }
}

async function measure(appliance: Prepared): Promise<void> {
  const project = await createProject(appliance, 'commits')
  await commitFile(appliance, project, 'README', 'read me\n')
  const first = await commitRound(appliance, project, 0)
  for (let round = 1; round < ROUNDS; round++) await commitRound(appliance, project, round)
  const cost = countCost(appliance.parts)
  const { perSecond, took } = await commitRound(appliance, project, ROUNDS)
  const detail = {
    first: Math.round(first.perSecond),
    p99_ms: Math.round(percentile(took, 0.99) * 10) / 10,
    ...cost(COMMITS),
    commits: COMMITS
  }
  report({ name: 'commit by files API', value: perSecond, unit: 'commits/s', limit: 100, better: 'higher', detail })
  const p50 = percentile(took, 0.5)
  report({ name: 'commit by files API, each', value: p50, unit: 'ms p50', limit: 12, better: 'lower', detail })
}

/** Each client sends its next commit when the last one is answered. */
async function crowd(appliance: Prepared, project: ProjectRecord, clients: number): Promise<void> {
  const took: number[] = []
  let refused = 0
  const client = async (name: number) => {
    for (let number = 0; number < CROWD_COMMITS / clients; number++) {
      const asked = performance.now()
      const path = `crowd-${clients}/client-${name}/file-${number}.txt`
      await commitFile(appliance, project, path, `content ${number}\n`).then(
        () => took.push(performance.now() - asked),
        () => refused++
      )
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: clients }, (_, name) => client(name)))
  report({
    name: `commits to one branch, ${clients} ${clients === 1 ? 'client' : 'clients'}`,
    value: took.length / ((performance.now() - started) / 1000),
    unit: 'commits/s',
    limit: null,
    better: 'higher',
    detail: { p50_ms: percentile(took, 0.5), p99_ms: percentile(took, 0.99), accepted: took.length, refused }
  })
}

await withAppliance({}, async appliance => {
  await measure(appliance)
  const project = await createProject(appliance, 'crowds')
  await commitFile(appliance, project, 'README', 'read me\n')
  for (const clients of CROWDS) await crowd(appliance, project, clients)
})

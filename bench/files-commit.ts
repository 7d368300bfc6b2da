// Measures commits by the files API, one after the other on one branch, while the worker handles their effects.
import { type Prepared, withAppliance } from './lib/appliance.js'
import { countCost } from './lib/cost.js'
import { percentile, report } from './lib/figure.js'
import { cpuOf } from './lib/processes.js'
import { commitFile, createProject } from './lib/rest.js'

const COMMITS = 500

async function measure(appliance: Prepared): Promise<void> {
  const project = await createProject(appliance, 'commits')
  for (let number = 0; number < 50; number++) await commitFile(appliance, project, `warm/file-${number}`, 'warm\n')
  const { server, worker, database } = appliance.parts
  const cpu = () => [server, worker, database].map(cpuOf)
  const took: number[] = []
  const before = cpu()
  const cost = countCost(appliance.parts)
  const started = performance.now()
  for (let number = 0; number < COMMITS; number++) {
    const asked = performance.now()
    await commitFile(appliance, project, `folder-${number % 20}/inner/file-${number}.txt`, `content ${number}\n`)
    took.push(performance.now() - asked)
  }
  const perSecond = COMMITS / ((performance.now() - started) / 1000)
  const spent = cpu().map((seconds, index) => Math.round(((seconds - (before[index] ?? 0)) / COMMITS) * 1e6))
  const [server_us, worker_us, database_us] = spent
  const detail = {
    p99_ms: Math.round(percentile(took, 0.99) * 10) / 10,
    server_us,
    worker_us,
    database_us,
    ...cost(COMMITS),
    commits: COMMITS
  }
  report({ name: 'commit by files API', value: perSecond, unit: 'commits/s', limit: 100, better: 'higher', detail })
  const p50 = percentile(took, 0.5)
  report({ name: 'commit by files API, each', value: p50, unit: 'ms p50', limit: 12, better: 'lower', detail })
}

await withAppliance({}, measure)

// Measures the time from a request that commits a file to the first byte at the receiver of a system hook. The commit
// itself is part of that time.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { row } from '../src/db/connect/sql.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { countCost } from './lib/cost.js'
import { percentile, report } from './lib/figure.js'
import { ask, commitFile, createProject } from './lib/rest.js'

const COMMITS = 300

async function measure(appliance: Prepared): Promise<void> {
  const project = await createProject(appliance, 'hooked')
  await commitFile(appliance, project, 'first', 'first\n')
  // Wait for the effects of the first commit. Otherwise the hook would get its push and count it for the next commit.
  while (await row("select 1 as busy from jobs where queue = 'default' limit 1")) await sleep(20)
  let arrived: () => void = () => undefined
  const server = createServer((request, response) => {
    let text = ''
    const at = performance.now()
    request.on('data', chunk => (text += chunk))
    request.on('end', () => {
      response.end()
      if ((JSON.parse(text) as { event_name?: string }).event_name !== 'push') return
      arrivedAt = at
      arrived()
    })
  })
  let arrivedAt = 0
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  await ask(appliance, 'POST', '/hooks', { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` })
  const cost = countCost(appliance.parts)
  const [fromRequest, fromAnswer]: [number[], number[]] = [[], []]
  for (let number = 0; number < COMMITS; number++) {
    const there = new Promise<void>(resolve => (arrived = resolve))
    const asked = performance.now()
    await commitFile(appliance, project, `folder-${number % 20}/file-${number}`, `${number}\n`)
    const answered = performance.now()
    await there
    fromRequest.push(arrivedAt - asked)
    fromAnswer.push(arrivedAt - answered)
  }
  server.close()
  server.closeAllConnections()
  const tenths = (values: number[], share: number) => Math.round(percentile(values, share) * 10) / 10
  report({
    name: "commit to hook's first byte",
    value: percentile(fromRequest, 0.99),
    unit: 'ms p99',
    limit: 200,
    better: 'lower',
    detail: {
      p50_ms: tenths(fromRequest, 0.5),
      after_answer_p50_ms: tenths(fromAnswer, 0.5),
      after_answer_p99_ms: tenths(fromAnswer, 0.99),
      commits: COMMITS,
      ...cost(COMMITS)
    }
  })
}

await withAppliance({ environment: { GITSTEAD_HOOKS_ALLOW: '127.0.0.1' } }, measure)

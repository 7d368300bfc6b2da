// Measures GET /projects/:id with the owner's token and without a token, compared with a bare Fastify route that uses the same
// prepared statement. Each runs in its own process, and the load alternates between them.
import { type Appliance, type Prepared, withAppliance } from './lib/appliance.js'
import { countCost } from './lib/cost.js'
import { median, report } from './lib/figure.js'
import { burst, get, stopLoad } from './lib/load.js'
import { cpuOf } from './lib/processes.js'
import { serve } from './lib/program.js'
import { createProject } from './lib/rest.js'

const ROUNDS = 5
const LOAD = { connections: 16, milliseconds: 1500 }

interface Side {
  readonly port: number
  readonly pid: number
  readonly request: string
}

/** The median of the rates, and of the microseconds of processor for each request, of all rounds for each side. */
async function inTurns({ parts }: Appliance, sides: Record<string, Side>) {
  const result = Object.fromEntries(
    Object.keys(sides).map(name => [name, { rates: [] as number[], cpu: [] as number[], cost: [] as number[] }])
  )
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, { port, pid, request }] of Object.entries(sides)) {
      const before = cpuOf(pid)
      const spent = countCost(parts)
      const { perSecond, count } = await burst({ ...LOAD, port, requests: [request] })
      if (round === 0) continue
      result[name]?.rates.push(perSecond)
      result[name]?.cpu.push(((cpuOf(pid) - before) / count) * 1e6)
      result[name]?.cost.push(spent(count).processor_ms)
    }
  }
  return Object.entries(result).map(([name, { rates, cpu, cost }]) => ({
    name,
    rate: median(rates),
    cpu: median(cpu),
    cost: median(cost)
  }))
}

async function measure(appliance: Prepared): Promise<void> {
  const { admin, home, port, parts } = appliance
  const { id } = await createProject(appliance, 'bench', { public: true, description: 'What this is for' })
  const bare = await serve('bare-route', [home, String(admin.id), String(id)])
  const path = `/api/v3/projects/${id}`
  const sides = await inTurns(appliance, {
    bare: { port: bare.port, pid: bare.pid, request: get(`/projects/${id}`) },
    owner: { port, pid: parts.server, request: get(path, admin.token) },
    anonymous: { port, pid: parts.server, request: get(path) }
  })
  bare.stop()
  const [route, ...ours] = sides
  if (!route) return
  for (const { name, rate, cpu, cost } of ours) {
    report({
      name: `project read, ${name}`,
      value: rate / route.rate,
      unit: 'of the bare route',
      limit: 0.5,
      better: 'higher',
      comparison: `${Math.round(rate)}/s against ${Math.round(route.rate)}/s`,
      detail: { server_us: Math.round(cpu), bare_us: Math.round(route.cpu), processor_ms: cost }
    })
  }
}

await withAppliance({}, measure)
stopLoad()

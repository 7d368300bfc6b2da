// Compares reads with a bare route that answers the same records, in turns. Each side runs in its own process.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Prepared } from './appliance.js'
import { temporaryFolder } from './clean-up.js'
import { median, report } from './figure.js'
import { burst, get } from './load.js'
import { cpuOf } from './processes.js'
import { serve } from './program.js'
import { statementCount } from './seed.js'

/** A table whose records the bare route knows. */
export type Table =
  | 'builds'
  | 'issues'
  | 'labels'
  | 'members'
  | 'merge_requests'
  | 'notes'
  | 'projects'
  | 'todos'
  | 'users'

const LIMIT = 0.5
const ROUNDS = 4
const LOAD = { connections: 8, milliseconds: 5000, most: 1000 }
const SAMPLE = 100

export interface Read {
  readonly name: string
  readonly table: Table
  /** Below /api/v3; several paths are requested in turn, and the bare route answers the first. */
  readonly path: string | readonly string[]
  readonly token?: string
}

/** Reports the rate of a read as a share of the rate of the bare route, and the processor time of both. */
export async function measureRead(appliance: Prepared, { name, table, path, token }: Read): Promise<void> {
  const { port, parts, home } = appliance
  const paths = typeof path === 'string' ? [path] : path
  const requests = paths.map(each => get(`/api/v3${each}`, token))
  const bare = await serve('bare-route', [home, table, await answerOf(appliance, paths[0] ?? '', token)])
  const sides = {
    bare: { port: bare.port, requests: [get('/')], processor: () => cpuOf(bare.pid) + cpuOf(parts.database) },
    ours: { port, requests, processor: () => cpuOf(parts.supervisor) }
  }
  const rates = { bare: [] as number[], ours: [] as number[] }
  const each = { bare: [] as number[], ours: [] as number[] }
  // The first round lets Node.js compile the code.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const side of ['bare', 'ours'] as const) {
      const { processor, ...what } = sides[side]
      const before = processor()
      const { perSecond, count } = await burst({ ...LOAD, ...what })
      if (round === 0) continue
      rates[side].push(perSecond)
      each[side].push(((processor() - before) / count) * 1000)
    }
  }
  bare.stop()
  const statements = await statementsOf(port, requests)
  report({
    name,
    value: median(rates.ours) / median(rates.bare),
    unit: 'of the bare route',
    limit: LIMIT,
    better: 'higher',
    comparison: `${Math.round(median(rates.ours))}/s against ${Math.round(median(rates.bare))}/s`,
    detail: { processor_ms: median(each.ours), bare_ms: median(each.bare), statements }
  })
}

/** Writes the answer that the bare route gives to a file. */
async function answerOf({ url }: Prepared, path: string, token?: string): Promise<string> {
  const answer = await fetch(`${url}/api/v3${path}`, { headers: token ? { 'private-token': token } : {} })
  if (!answer.ok) throw new Error(`GET ${path}: ${answer.status}`)
  const file = join(temporaryFolder(), 'answer.json')
  writeFileSync(file, await answer.text())
  return file
}

/** How many statements the database counts for a request. */
async function statementsOf(port: number, requests: readonly string[]): Promise<number> {
  const before = await statementCount()
  const { count } = await burst({ port, requests, connections: 1, milliseconds: 1000, most: SAMPLE })
  return Math.round(((await statementCount()) - before) / count)
}

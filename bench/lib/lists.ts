// Measures a list: how many requests per second one server process answers, and how many statements a request takes.
import type { Prepared } from './appliance.js'
import { report } from './figure.js'
import { burst, rate } from './load.js'
import { statementCount } from './seed.js'

const LIMIT = 2500
const SAMPLE = 100

export interface List {
  readonly name: string
  /** The whole request, as bytes on the wire; or several, which are sent in turn. */
  readonly request: string | readonly string[]
  readonly rounds?: number
}

export async function measureList({ port, parts }: Prepared, { name, request, rounds }: List): Promise<void> {
  const requests = typeof request === 'string' ? [request] : request
  const { perSecond, ...detail } = await rate({ port, requests, connections: 16, parts, rounds })
  const statements = await statementsOf(port, requests)
  report({
    name,
    value: perSecond,
    unit: 'requests/s',
    limit: LIMIT,
    better: 'higher',
    detail: { ...detail, statements }
  })
}

/** How many statements the database counts for a request. */
async function statementsOf(port: number, requests: readonly string[]): Promise<number> {
  const before = await statementCount()
  let asked = 0
  const until = performance.now() + 1000
  while (asked < SAMPLE && performance.now() < until) {
    asked += (await burst({ port, requests, connections: 1, milliseconds: 100 })).count
  }
  return Math.round(((await statementCount()) - before) / asked)
}

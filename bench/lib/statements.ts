// How many statements a request takes.
import { burst } from './load.js'
import { statementCount } from './seed.js'

const SAMPLE = 100

/** How many statements the database counts for a request. */
export async function statementsOf(port: number, request: string): Promise<number> {
  const before = await statementCount()
  let asked = 0
  const until = performance.now() + 1000
  while (asked < SAMPLE && performance.now() < until) {
    asked += (await burst({ port, requests: [request], connections: 1, milliseconds: 100 })).count
  }
  return Math.round(((await statementCount()) - before) / asked)
}

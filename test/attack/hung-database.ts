import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack } from './support/attack.js'

/** Milliseconds within which an answer must arrive: a statement has four seconds. */
const STATEMENT = 4000
const REST = 1000

export const attack: Attack = {
  name: 'hung-database',
  about:
    'the database stops without closing its connections, under load: the API, readiness and metrics answer 503 within 5 s',
  limit: { memory: 192, seconds: 30, statuses: [503] },
  run: async ({ url, token, appliance, patience }) => {
    const most = STATEMENT + patience(REST)
    const headers = { 'private-token': token }
    const ask = async (path: string) => {
      const started = performance.now()
      const { status } = await fetch(`${url}${path}`, { headers, signal: AbortSignal.timeout(4 * most) })
      const took = performance.now() - started
      if (took > most) throw new Error(`${path} answered ${status} after ${Math.round(took)} ms`)
      return status
    }
    const { database = 0 } = appliance.processes()
    // Connections are open and busy when it stops.
    const busy = Array.from({ length: 16 }, () => ask('/api/v3/projects/all').catch(() => 0))
    process.kill(database, 'SIGSTOP')
    try {
      await Promise.all(busy)
      const paths = ['/api/v3/projects', '/api/v3/user', '/-/readiness', '/-/metrics']
      return await Promise.all(Array.from({ length: 10 }, () => paths.map(ask)).flat())
    } finally {
      process.kill(database, 'SIGCONT')
      for (let tries = 0; tries < 100 && (await ask('/-/readiness').catch(() => 0)) !== 200; tries++) await sleep(100)
    }
  }
}

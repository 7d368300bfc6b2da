import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack, Stand } from './support/attack.js'

const OTHER = { 'x-forwarded-for': '192.0.2.7' }
/** Milliseconds that another address may wait. A test run shares its machine. */
const PATIENCE = { long: 1000, short: 10_000 }
const TEXT = '/close\n- @a #1\n'.repeat(12_600)

export const attack: Attack = {
  name: 'long-texts',
  about:
    'ten connections of one address write issues and notes with 190,000 characters of Markdown, while another reads',
  limit: { memory: 512, seconds: 60, statuses: [201, 429, 503] },
  run: async stand => {
    const { id } = await stand.project()
    const { json: issue } = await stand.ask<{ id: number }>('POST', `/projects/${id}/issues`, { title: 'first' })
    const ended = new AbortController()
    // Other attacks stop the database on purpose.
    const losses = () => stand.appliance.log().split('the database is lost').length
    const before = losses()
    const attackers = Array.from({ length: 10 }, (_, at) =>
      at % 2 === 0
        ? writeUntil(ended.signal, stand, `/projects/${id}/issues`, { title: 'x', description: TEXT })
        : writeUntil(ended.signal, stand, `/projects/${id}/issues/${issue.id}/notes`, { body: TEXT })
    )
    const [statuses] = await Promise.all([Promise.all(attackers), readAsOther(stand).finally(() => ended.abort())])
    if (losses() > before) throw new Error('the database counts as lost')
    return statuses.flat()
  }
}

async function writeUntil(signal: AbortSignal, stand: Stand, path: string, body: object): Promise<number[]> {
  const statuses: number[] = []
  while (!signal.aborted) statuses.push((await stand.ask('POST', path, body)).status)
  return statuses
}

async function readAsOther({ url, token, short, patience }: Stand): Promise<void> {
  for (let asked = 0; asked < (short ? 20 : 100); asked++) {
    await sleep(100)
    const { status } = await fetch(`${url}/api/v3/user`, {
      headers: { ...OTHER, 'private-token': token },
      signal: AbortSignal.timeout(patience(short ? PATIENCE.short : PATIENCE.long))
    })
    if (status !== 200) throw new Error(`another address gets ${status}`)
  }
}

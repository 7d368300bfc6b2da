import type { Attack, Stand } from './support/attack.js'

const TEXT = 'x'.repeat(190_000)
const ISSUES = 100

export const attack: Attack = {
  name: 'long-lists',
  about: 'forty requests of four addresses at once for a list of 100 issues with 190,000 characters each',
  limit: { memory: 576, seconds: 60, statuses: [200, 503] },
  run: async stand => {
    const { id } = await stand.project()
    const path = `/projects/${id}/issues`
    for (let made = 0; made < ISSUES; made += 10) {
      await Promise.all(Array.from({ length: 10 }, () => stand.ask('POST', path, { title: 'long', description: TEXT })))
    }
    const asked = Array.from({ length: stand.short ? 20 : 40 }, (_, at) => list(stand, path, `192.0.2.${1 + (at % 4)}`))
    return Promise.all(asked)
  }
}

async function list({ url, token }: Stand, path: string, address: string): Promise<number> {
  const answer = await fetch(`${url}/api/v3${path}?per_page=${ISSUES}`, {
    headers: { 'private-token': token, 'x-forwarded-for': address }
  })
  const length = (await answer.arrayBuffer()).byteLength
  if (answer.status === 200 && length < ISSUES * TEXT.length) throw new Error(`an answer has only ${length} bytes`)
  return answer.status
}

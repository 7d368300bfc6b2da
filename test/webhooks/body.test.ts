// Bodies of deliveries: excess content is left out before the body is stored, and the body stays JSON and lists what is missing.
import { BODY_LIMIT, beginning, hookBody } from '../../src/webhooks/body.js'
import t from '../helpers/tap.js'

const parsed = (payload: object) => {
  const body = hookBody(payload)
  t.ok(Buffer.byteLength(body) <= BODY_LIMIT, `${Buffer.byteLength(body)} bytes`)
  return JSON.parse(body) as { shortened?: string[]; [field: string]: unknown }
}

t.test('a body that fits is the payload, byte for byte', async t => {
  const payload = { message: 'Ä "quoted"', when: new Date(0), none: null, text: 'x'.repeat(900_000) }
  t.equal(hookBody(payload), JSON.stringify(payload))
})

t.test('a body that is too large loses only long values', async t => {
  const ref = `refs/heads/${'r'.repeat(4000)}`
  const { shortened, message, ...rest } = parsed({ ref, message: 'm'.repeat(17_000_000), id: 7, list: ['a', null] })
  t.same(shortened, ['message'])
  t.equal((message as string).length, 500_000)
  t.same(rest, { ref, id: 7, list: ['a', null] })
})

t.test('every shortened field is listed, also one that was shortened when it was read', async t => {
  const commits = Array.from({ length: 20 }, (_, at) => ({
    id: String(at),
    message: '\u0001'.repeat(10_000),
    added: Array.from({ length: 10_000 }, (_, name) => `path/${name}`)
  }))
  const { shortened = [], commits: kept } = parsed({ commits, shortened: ['commits.3.removed'] })
  t.ok(shortened.includes('commits.3.removed'))
  for (const [at, commit] of (kept as typeof commits).entries()) {
    t.equal(commit.id, String(at))
    t.equal(shortened.includes(`commits.${at}.added`), commit.added.length < 10_000)
    t.equal(shortened.includes(`commits.${at}.message`), commit.message.length < 10_000)
  }
})

t.test('a list of a million records fits', async t => {
  const builds = Array.from({ length: 1_000_000 }, (_, id) => ({ id, name: 'build', stage: 'test' }))
  const { shortened, builds: kept } = parsed({ object_kind: 'pipeline', builds })
  t.same(shortened, ['builds'])
  t.equal((kept as unknown[]).length, 8192)
})

t.test('a character is never split', async t => {
  t.equal(beginning('a😀b', 2), 'a')
  t.equal(beginning('a😀b', 3), 'a😀')
  t.equal(beginning('a😀', 9), 'a😀')
})

// Requests of git clients that are larger than the appliance allows, or than git can handle.
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { loadConfig } from '../../src/config.js'
import { refValue, ZERO } from '../../src/git/refs/refs.js'
import { closeGitProcesses } from '../../src/git/repository/processes.js'
import { withoutRepetitions } from '../../src/git/transport/fetch-request.js'
import { FLUSH, pktLine } from '../../src/git/transport/pkt-line.js'
import { readPushCommands, receivePack, refusePush } from '../../src/git/transport/receive.js'
import { BLOB, idOf, type PackEntry, packOf, repeatingDelta } from '../helpers/packs.js'
import t, { type Test } from '../helpers/tap.js'
import { git, repositoryWith } from './history.js'

t.teardown(() => closeGitProcesses())

function limit(t: Test, values: Record<string, string>): void {
  Object.assign(process.env, values)
  loadConfig({})
  t.teardown(() => {
    for (const name of Object.keys(values)) delete process.env[name]
    loadConfig({})
  })
}

const CAPABILITIES = 'report-status side-band-64k'

/** Pushes a pack to a new repository. Returns the answer, and the results that the appliance records. */
async function push(t: Test, pack: Buffer, { id = 'a'.repeat(40), capabilities = CAPABILITIES } = {}) {
  const repository = await repositoryWith(t)
  const body = Buffer.concat([pktLine(`${ZERO} ${id} refs/tags/x\0 ${capabilities}\n`), FLUSH, pack])
  const { rest, ...request } = await readPushCommands(Readable.from([body.subarray(0, 20), body.subarray(20)]))
  const { output, done } = await receivePack(repository, {
    ...request,
    input: () => rest,
    beforeReport: async () => []
  })
  const answer = (await buffer(output)).toString('latin1')
  return { repository, answer, results: await done }
}

const text = (content: string): PackEntry => ({ type: BLOB, content: Buffer.from(content) })

t.test('a push within the limits is accepted', async t => {
  limit(t, { GITSTEAD_GIT_MAX_PUSH_OBJECTS: '2' })
  const id = idOf('blob', Buffer.from('one'))
  const { repository, results } = await push(t, packOf([text('one'), text('two')]), { id })
  t.same(results, [{ ref: 'refs/tags/x', ok: true, reason: null }])
  t.equal(await refValue(repository, 'refs/tags/x'), id)
})

t.test('a push of too many objects is refused with the name of the limit', async t => {
  limit(t, { GITSTEAD_GIT_MAX_PUSH_OBJECTS: '2' })
  for (const capabilities of [CAPABILITIES, 'report-status']) {
    const { answer, results } = await push(t, packOf([text('one')], 4_000_000_000), { capabilities })
    const reason = 'the push has 4000000000 objects, more than 2 (git.max_push_objects)'
    t.same(results, [{ ref: 'refs/tags/x', ok: false, reason }])
    t.match(answer, `ng refs/tags/x ${reason}`)
  }
})

t.test('a push of too many bytes is refused with the name of the limit', async t => {
  limit(t, { GITSTEAD_GIT_MAX_PUSH_SIZE: '1000' })
  const { answer } = await push(t, Buffer.concat([packOf([text('one')]), Buffer.alloc(1500)]))
  t.match(answer, /ng refs\/tags\/x the push has more than 1000 bytes \(git\.max_push_size\)/)
  const line = pktLine(`${ZERO} ${'a'.repeat(40)} refs/tags/x\0 ${CAPABILITIES}\n`)
  const { rest, ...request } = await readPushCommands(Readable.from([line, FLUSH, Buffer.alloc(1500)]))
  const refusal = await refusePush({ ...request, reasons: new Map([['refs/tags/x', 'no']]), input: rest })
  t.match(refusal.toString(), /ng refs\/tags\/x no/, 'a push that is refused anyway keeps its reason')
})

t.test('a small pack that needs gigabytes is refused with the name of the limit', async t => {
  limit(t, { GITSTEAD_GIT_MEMORY_LIMIT: String(128 * 1024 * 1024) })
  const base = Buffer.alloc(16 * 1024 * 1024 - 1)
  const bomb = repeatingDelta({ id: idOf('blob', base), size: base.length }, base.length, 190)
  for (const capabilities of [CAPABILITIES, 'report-status']) {
    const pack = packOf([{ type: BLOB, content: base }, bomb])
    t.ok(pack.length < 20_000)
    const { repository, answer, results } = await push(t, pack, { capabilities })
    t.match(results, [{ ok: false, reason: /more than 128 MiB of memory .*\(git\.memory_limit\)/ }])
    t.match(answer, /ng refs\/tags\/x git needs more than 128 MiB/)
    t.equal(git(repository, ['count-objects']), '0 objects, 0 kilobytes')
  }
})

t.test('repeated lines of a fetch request are removed', async t => {
  const [one, other] = ['a'.repeat(40), 'b'.repeat(40)]
  const lines = [`want ${one} side-band-64k\n`, `want ${one}\n`, `have ${one}\n`, `have ${other}\n`, `have ${one}\n`]
  const body = Buffer.concat(
    [...lines.map(pktLine), Buffer.from('0001'), pktLine('done\n')].map(part => Buffer.from(part))
  )
  const kept = withoutRepetitions(body)
  const first = (at: number) => pktLine(lines[at] ?? '')
  t.equal(kept.toString(), [first(0), first(2), first(3), '0001', pktLine('done\n')].join(''))
  for (const odd of ['', '0000', '00', 'zzzz', '0005', '0032have ', `${body}ffffhave`, 'fffe'.repeat(9)]) {
    const expected = odd.startsWith('0') && odd.includes('side-band') ? `${kept}ffffhave` : odd
    t.equal(withoutRepetitions(Buffer.from(odd)).toString(), expected)
  }
})

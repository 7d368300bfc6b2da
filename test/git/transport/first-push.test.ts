// First pushes of large repositories, which end without a walk through the history. Everything that is not a complete
// success ends exactly as with `git receive-pack`.
import { randomBytes } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { config, loadConfig } from '../../../src/config.js'
import { takeSlot } from '../../../src/git/process/slots.js'
import { ZERO } from '../../../src/git/refs/refs.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import { FLUSH, pktLine } from '../../../src/git/transport/pkt-line.js'
import { readPushCommands, receivePack } from '../../../src/git/transport/receive.js'
import t, { type Test } from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

const CAPABILITIES = 'report-status side-band-64k quiet agent=git/x'
const empty = await repositoryWith(t)
const work = join(t.testdirName, 'work')
mkdirSync(work)
git(work, ['init', '-q', '-b', 'master'])
for (let at = 0; at < 120; at++) writeFileSync(join(work, `file-${at}`), randomBytes(6000))
git(work, ['add', '.'])
git(work, ['commit', '-q', '-m', 'first'])
const first = git(work, ['rev-parse', 'HEAD'])
git(work, ['commit', '-q', '-m', 'second', '--allow-empty'])
const second = git(work, ['rev-parse', 'HEAD'])
git(work, ['tag', '-a', '-m', 'one', 'v1', first])
const tag = git(work, ['rev-parse', 'v1'])

/** Returns a pack of everything that is reachable, apart from some objects. */
function packWithout(missing: readonly string[] = []): Buffer {
  const all = git(work, ['rev-list', '--objects', '--all'])
    .split('\n')
    .map(line => line.slice(0, 40))
  writeFileSync(
    join(work, '.git/wanted'),
    all
      .filter(id => !missing.includes(id))
      .map(id => `${id}\n`)
      .join('')
  )
  git(work, ['config', 'alias.raw', '!git pack-objects --stdout -q < .git/wanted > .git/sent'])
  git(work, ['raw'])
  return readFileSync(join(work, '.git/sent'))
}

type Refs = Record<string, string>

/** Lists the commands that are started, by a git that writes them down. */
function listGit(t: Test): () => string[] {
  const folder = t.testdir({ log: '' })
  const [path = '', log] = [process.env.PATH, join(folder, 'log')]
  const real = git(folder, ['--exec-path'])
  writeFileSync(join(folder, 'git'), `#!/bin/sh\necho "$1" >> '${log}'\nexec '${real}/git' "$@"\n`)
  chmodSync(join(folder, 'git'), 0o755)
  process.env.PATH = `${folder}:${path}`
  t.teardown(() => {
    process.env.PATH = path
  })
  return () => readFileSync(log, 'utf8').split('\n').filter(Boolean)
}

interface How {
  readonly isFirst?: boolean
  readonly source?: string
  /** The repository, instead of a copy of `source`. */
  readonly into?: string
  /** Called when git has started, before it gets the end of the pack. */
  readonly begun?: () => void
}

async function push(pack: Buffer, refs: Refs, { isFirst = true, source = empty, into, begun }: How = {}) {
  const repository = into ?? join(t.testdirName, `copy-${randomBytes(4).toString('hex')}.git`)
  if (!into) cpSync(source, repository, { recursive: true })
  let go: () => void = () => {}
  const started = new Promise<void>(resolve => {
    go = resolve
  })
  async function* parts() {
    yield body.subarray(0, 100)
    await started
    yield body.subarray(100)
  }
  const lines = Object.entries(refs).map(([ref, id], at) =>
    pktLine(`${ZERO} ${id} ${ref}${at === 0 ? `\0 ${CAPABILITIES}` : ''}`)
  )
  const body = Buffer.concat([...lines, FLUSH, pack])
  const { packAt, capabilities, commands, rest } = await readPushCommands(Readable.from([body]))
  rest.destroy()
  const { output, done } = await receivePack(repository, {
    ...{ commands, capabilities, size: body.length },
    input: () => Readable.from(parts()),
    pack: isFirst ? { packAt, capabilities } : undefined,
    beforeReport: async () => []
  })
  begun?.()
  go()
  const answer = (await buffer(output)).toString('latin1')
  const left = readdirSync(join(repository, 'objects')).filter(name => name.startsWith('tmp_'))
  return { repository, answer, results: await done, left }
}

/** Returns the report of an answer, without the messages before it: their number depends on the threads of git. */
const reportIn = (answer: string) => answer.slice(answer.lastIndexOf('unpack '))

const all: Refs = { 'refs/heads/master': second, 'refs/heads/old/one': first, 'refs/tags/v1': tag }

t.test('the refs of a whole history are set after index-pack', async t => {
  const started = listGit(t)
  const { repository, answer, results, left } = await push(packWithout(), all)
  t.same(started(), ['index-pack', 'update-ref'])
  t.same(
    results.map(({ ref, ok }) => [ref, ok]),
    Object.keys(all).map(ref => [ref, true])
  )
  t.equal(answer, (await push(packWithout(), all, { isFirst: false })).answer)
  for (const [ref, id] of Object.entries(all)) t.equal(git(repository, ['rev-parse', ref]), id)
  git(repository, ['fsck', '--strict'])
  t.match(git(repository, ['count-objects', '-v']), /^count: 0\n[\s\S]*packs: 1$/m)
  t.same(left, [])
})

t.test('git receives the push again when anything is wrong, and the client gets its answer', async t => {
  const tree = git(work, ['rev-parse', 'master^{tree}'])
  const file = git(work, ['rev-parse', 'master:file-0'])
  const pack = packWithout()
  const damaged = Buffer.from(pack)
  damaged[pack.length >> 1] = (damaged[pack.length >> 1] ?? 0) ^ 1
  const other = { 'refs/heads/master': 'a'.repeat(40) }
  const cases: Record<string, [Buffer, Refs]> = {
    'a missing file': [packWithout([file]), all],
    'a missing tree': [packWithout([tree]), all],
    'a missing parent': [packWithout([first]), all],
    'a missing tip': [packWithout([second]), all],
    'a tip that does not exist': [pack, { ...all, ...other }],
    'a damaged pack': [damaged, all],
    'a pack that is cut off': [pack.subarray(0, -100), all],
    'names that conflict': [pack, { ...all, 'refs/heads/old': first }],
    'a branch of a file': [pack, { 'refs/heads/file': file }]
  }
  for (const [name, [bytes, refs]] of Object.entries(cases)) {
    const [here, there] = [await push(bytes, refs), await push(bytes, refs, { isFirst: false })]
    t.same(here.results, there.results, name)
    t.equal(reportIn(here.answer), reportIn(there.answer), name)
    t.equal(git(here.repository, ['for-each-ref']), git(there.repository, ['for-each-ref']), name)
    t.same(here.left, [], name)
  }
})

// A client that lost its connection tries again while the server still works on its push.
t.test('of two equal first pushes at once, one is made, and the other is refused', async t => {
  const repository = join(t.testdirName, 'twice.git')
  cpSync(empty, repository, { recursive: true })
  for (const refs of [{ 'refs/heads/master': second }, all]) {
    for (const ref of Object.keys(all)) git(repository, ['update-ref', '-d', ref])
    const pushes = await Promise.all([1, 2].map(() => push(packWithout(), refs, { into: repository })))
    const [made, refused] = pushes.sort((a, b) => Number(b.results[0]?.ok) - Number(a.results[0]?.ok))
    for (const { ok } of made?.results ?? []) t.equal(ok, true)
    for (const { ok, reason } of refused?.results ?? []) t.same([ok, reason], [false, 'failed to update ref'])
    t.match(reportIn(refused?.answer ?? ''), /ng refs\/heads\/master failed to update ref/)
    git(repository, ['fsck', '--strict'])
  }
})

t.test('a push that git cannot receive again, because too many others wait, is refused with the reason', async t => {
  const limits = { max_processes: 4, max_processes_per_repository: 4, memory: 64 * 1024 ** 3 }
  const { home } = config()
  loadConfig({ home, git: { ...limits, max_waiting: 20 } })
  t.teardown(() => loadConfig({ home }))
  const taken: Promise<() => void>[] = []
  const pack = packWithout()
  const others = () => {
    for (let at = 0; at < 8; at++)
      taken.push(takeSlot({ long: true, client: `client ${at}`, repository: `/repository-${at}` }))
    loadConfig({ home, git: { ...limits, max_waiting: 1 } })
  }
  const { answer, results, repository } = await push(pack.subarray(0, -100), all, { begun: others })
  for (const slot of taken) (await slot)()
  const reason = 'Too many git operations are waiting'
  t.same(
    results,
    Object.keys(all).map(ref => ({ ref, ok: false, reason }))
  )
  t.match(reportIn(answer), `ng refs/heads/master ${reason}`)
  t.equal(git(repository, ['for-each-ref']), '')
})

t.test('git receives a push to a repository with refs, and a bad object as before', async t => {
  const { repository } = await push(packWithout(), { 'refs/heads/master': first })
  const started = listGit(t)
  const again = await push(packWithout(), { 'refs/heads/next': second }, { source: repository })
  t.match(again.results, [{ ok: true }])
  t.same(started(), ['receive-pack'])
  const text = `tree ${git(work, ['rev-parse', 'master^{tree}'])}\nauthor Eve\ncommitter Eve <e> 1 +0000\n\nx\n`
  const bad = git(work, ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], text)
  git(work, ['update-ref', 'refs/heads/bad', bad])
  const { results, answer } = await push(packWithout(), { 'refs/heads/bad': bad })
  t.match(results, [{ ok: false, reason: 'unpacker error' }])
  t.match(answer, /missingEmail/)
})

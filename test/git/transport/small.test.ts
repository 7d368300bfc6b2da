// Small pushes that are received without git. Each case is pushed to two equal repositories: to one without git, to the
// other through git. Without git, nothing may be accepted that git refuses, and what is not accepted leaves no trace.
import { cpSync, mkdirSync, readdirSync, readFileSync as readFile, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { refValue, ZERO } from '../../../src/git/refs/refs.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import { FLUSH, pktLine } from '../../../src/git/transport/pkt-line.js'
import { readPushCommands, receivePack } from '../../../src/git/transport/receive.js'
import { receiveSmall } from '../../../src/git/transport/small/receive.js'
import { BLOB, idOf, type PackEntry, packOf, repeatingDelta } from '../../helpers/packs.js'
import t from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

const [COMMIT, TREE, TAG, OFFSET_DELTA, REF_DELTA] = [1, 2, 4, 6, 7]
const MASTER = 'refs/heads/master'
const CAPABILITIES = 'report-status-v2 side-band-64k object-format=sha1 agent=git/2.39.5'

const original = await repositoryWith(t, 12)
const head = git(original, ['rev-parse', 'master'])
const side = git(original, ['rev-parse', 'side'])
const rootTree = git(original, ['rev-parse', 'master^{tree}'])
const aBlob = git(original, ['rev-parse', 'master:empty'])

interface Case {
  readonly pack: Buffer
  readonly new: string
  readonly old?: string
  readonly ref?: string
  readonly capabilities?: string
  readonly kept?: string[]
  /** Further changes of the same push. */
  readonly more?: readonly { readonly old: string; readonly new: string; readonly ref: string }[]
}

let copies = 0
function copy(source = original): string {
  const path = join(t.testdirName, `copy-${copies++}.git`)
  cpSync(source, path, { recursive: true })
  return path
}

function bodyOf({ pack, new: next, old = head, ref = MASTER, capabilities = CAPABILITIES, more = [] }: Case): Buffer {
  const others = more.map(change => pktLine(`${change.old} ${change.new} ${change.ref}\n`))
  return Buffer.concat([pktLine(`${old} ${next} ${ref}\0 ${capabilities}\n`), ...others, FLUSH, pack])
}

async function requestOf(one: Case) {
  const body = bodyOf(one)
  const { rest, ...request } = await readPushCommands(Readable.from([body]))
  rest.destroy()
  return { ...request, kept: one.kept, body, input: () => Readable.from([body]) }
}

const stateOf = (path: string) => readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()
const untouched = copy()
const state = stateOf(untouched).join()

/** Returns whether a push is left to git without a trace. */
async function isLeft(one: Case): Promise<boolean> {
  if (await receiveSmall(untouched, await requestOf(one))) throw new Error('it was received')
  return stateOf(untouched).join() === state
}

/** Pushes to both repositories. Returns whether the push was received without git, and whether git accepts it. */
async function pushBoth(one: Case, source = original) {
  const [here, there] = [copy(source), copy(source)]
  const before = stateOf(here)
  const { input, ...request } = await requestOf(one)
  const small = await receiveSmall(here, request)
  const { output, done } = await receivePack(there, { ...request, input, beforeReport: async () => [] })
  await buffer(output)
  const results = await done
  if (small) {
    t.equal(git(here, ['for-each-ref']), git(there, ['for-each-ref']), 'both have the same refs')
    git(here, ['fsck', '--strict', '--no-dangling'])
  } else t.same(stateOf(here), before, 'nothing has changed')
  return { small, accepted: results.every(({ ok }) => ok) }
}

// Pushes of ordinary clients.

const work = join(t.testdirName, 'work')

function workOn(source: string): void {
  git(t.testdirName, ['clone', '-q', source, work])
}

/** Makes a commit with the work of `change`, and returns what a client would send for it. */
function commitOf(change: (folder: string) => void, from = head): Case {
  git(work, ['checkout', '-q', '--detach', '--force', from])
  change(work)
  git(work, ['add', '--all'])
  git(work, ['commit', '-q', '--allow-empty', '-m', `change\n\n${copies}`])
  return caseOf(git(work, ['rev-parse', 'HEAD']), [from])
}

function caseOf(id: string, known: string[], more: Partial<Case> = {}): Case {
  const wanted = [id, ...known.map(one => `^${one}`)].join('\n')
  writeFileSync(join(work, '.git/wanted'), `${wanted}\n`)
  const pack = ['--thin', '--stdout', '--revs', '--delta-base-offset', '-q', '--no-reuse-delta']
  git(work, ['config', 'alias.raw', `!git pack-objects ${pack.join(' ')} < .git/wanted > .git/sent`])
  git(work, ['raw'])
  return { pack: readFile(join(work, '.git/sent')), new: id, old: known[0] ?? ZERO, ...more }
}

const file = (name: string, content: string | Buffer) => (folder: string) => {
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), content)
}

t.test('ordinary pushes need no git', async t => {
  workOn(original)
  const older = git(original, ['rev-parse', 'master~2'])
  const lines = Array.from({ length: 200 }, (_, at) => `line ${at}\n`).join('')
  const several = () => {
    const first = commitOf(file('lib/part-1/new.txt', lines))
    commitOf(file('lib/part-1/new.txt', `${lines}more\n`), first.new)
    const last = commitOf(file('lib/part-2/new.txt', lines), git(work, ['rev-parse', 'HEAD']))
    return caseOf(last.new, [head])
  }
  const merge = () => {
    git(work, ['checkout', '-q', '--detach', '--force', head])
    git(work, ['merge', '-q', '--no-edit', '--no-ff', side, '-m', 'merge'])
    git(work, ['commit', '-q', '--amend', '--allow-empty', '-m', 'merge'])
    return caseOf(git(work, ['rev-parse', 'HEAD']), [head, side])
  }
  const tag = () => {
    git(work, ['tag', '-a', '-m', 'tagged', 'v2.0', head])
    return caseOf(git(work, ['rev-parse', 'v2.0']), [head], { old: ZERO, ref: 'refs/tags/v2.0' })
  }
  const cases: Record<string, () => Case> = {
    'a new file': () => commitOf(file('NEW', 'new\n')),
    'a file deep in folders that are new': () => commitOf(file('a/b/c/d.txt', 'new\n')),
    'a change of a file in a folder': () => commitOf(file('lib/part-1/file-1.txt', lines)),
    'names that are not ASCII': () => commitOf(file('späß/日本 – x.txt', 'ä')),
    'files that begin like those of git': () =>
      commitOf(f => [file('.gitignore', 'x'), file('.github/a', 'y')].map(w => w(f))),
    attributes: () => commitOf(file('.gitattributes', '* text=auto\n')),
    'nothing but a message': () => commitOf(() => {}),
    'a renamed file': () => commitOf(folder => git(folder, ['mv', 'bin/run', 'run-renamed'])),
    'a removed file': () => commitOf(folder => git(folder, ['rm', '-q', 'bin/run'])),
    'several commits': several,
    'a merge': merge,
    'an annotated tag': tag,
    'a branch of a known commit': () => caseOf(side, [side], { old: ZERO, ref: 'refs/heads/new' }),
    'a new branch with a commit': () => ({ ...commitOf(file('NEW', 'x')), old: ZERO, ref: 'refs/heads/new' }),
    'a forced push': () => ({ ...commitOf(file('NEW', 'x'), side), old: head }),
    'a commit that was amended': () => ({ ...commitOf(file('NEW', 'x'), older), old: head }),
    'a new branch from an older commit': () => ({
      ...commitOf(file('NEW', 'x'), older),
      old: ZERO,
      ref: 'refs/heads/new'
    }),
    'a deletion': () => ({ pack: Buffer.alloc(0), new: ZERO, old: side, ref: 'refs/heads/side' }),
    'a tag of an older commit': () => caseOf(older, [older], { old: ZERO, ref: 'refs/tags/older' })
  }
  // U+2013 begins with the bytes of characters that macOS drops, so git looks at it.
  const left = new Set(['names that are not ASCII'])
  for (const [name, make] of Object.entries(cases)) {
    const { small, accepted } = await pushBoth(make())
    t.same({ small, accepted }, { small: !left.has(name), accepted: true }, name)
  }
  const empty = join(t.testdirName, 'empty.git')
  cpSync(await repositoryWith(t), empty, { recursive: true })
  git(work, ['checkout', '-q', '--orphan', 'first'])
  git(work, ['rm', '-rfq', '.'])
  file('README', 'first')(work)
  git(work, ['add', '.'])
  git(work, ['commit', '-q', '-m', 'first'])
  t.match(await pushBoth(caseOf(git(work, ['rev-parse', 'HEAD']), []), empty), { small: true, accepted: true })
})

t.test('git receives what is unusual', async t => {
  const cases: Record<string, () => Case> = {
    'a binary file': () => commitOf(file('binary', Buffer.from([0, 255, 1]))),
    'a new symbolic link': () => commitOf(folder => symlinkSync('elsewhere', join(folder, 'new-link'))),
    submodules: () => commitOf(file('.gitmodules', '[submodule "x"]\n\turl = ./x\n\tpath = x\n')),
    'a large file': () => commitOf(file('large', 'x'.repeat(2_000_000))),
    'a hundred files': () => commitOf(f => Array.from({ length: 100 }, (_, at) => file(`many/${at}`, `${at}`)(f))),
    'an unknown capability': () => ({ ...commitOf(file('NEW', 'x')), capabilities: `${CAPABILITIES} other` }),
    'no report': () => ({ ...commitOf(file('NEW', 'x')), capabilities: 'side-band-64k' })
  }
  for (const [name, make] of Object.entries(cases)) {
    t.match(await pushBoth(make()), { small: false, accepted: true }, name)
  }
  const rewrite = { ...commitOf(file('NEW', 'x'), side), old: head, kept: [MASTER] }
  t.ok(await isLeft(rewrite), 'a rewritten branch that must be kept')
  const forward = { ...commitOf(file('NEW', 'x')), kept: [MASTER] }
  t.equal((await pushBoth(forward)).small, true, 'a branch that must be kept moves forward')
  const deletion = { pack: Buffer.alloc(0), new: ZERO }
  t.ok(await isLeft({ ...deletion, old: side }), 'a deletion of another value')
  t.ok(await isLeft({ ...deletion, kept: [MASTER] }), 'a deletion of a branch that must be kept')
  t.ok(await isLeft({ ...forward, ...deletion, pack: forward.pack }), 'a deletion with a pack')
  for (const ref of [
    'refs/pipelines/1',
    'refs/heads/refs/x',
    'refs/merge-requests/1/head',
    'refs/heads/HEAD',
    'HEAD'
  ]) {
    t.ok(await isLeft({ ...caseOf(head, [head]), old: ZERO, ref }), ref)
  }
})

t.test('a push of a few refs needs only the process that moves refs, and moves all or none', async t => {
  const created = (name: string, id: string) => ({ ref: `refs/${name}`, old: ZERO, new: id })
  const release = () => {
    const one = commitOf(file('NEW', 'released'))
    git(work, ['tag', '-a', '-m', 'tagged', `v${copies}.1`, one.new])
    const tag = git(work, ['rev-parse', `v${copies}.1`])
    const more = [created('tags/annotated', tag), created('tags/plain', one.new), created('heads/older', side)]
    return { ...caseOf(tag, [head]), new: one.new, kept: [MASTER], more }
  }
  t.same(await pushBoth(release()), { small: true, accepted: true })
  const renamed = { old: side, new: ZERO, ref: 'refs/heads/side' }
  const move = { ...caseOf(side, [side]), old: ZERO, ref: 'refs/heads/renamed', more: [renamed] }
  t.same(await pushBoth(move), { small: true, accepted: true }, 'a renamed branch')
  const { more, ...one } = release()
  const again = { ...more[0], ref: MASTER, old: head, new: one.new }
  t.ok(await isLeft({ ...one, more: [again] }), 'the same ref twice')
  t.ok(await isLeft({ ...one, more: [...more, created('tags/fifth', head)] }), 'five refs')
  t.ok(
    await isLeft({ ...one, more: [...more.slice(0, 2), { ...created('heads/side', head), old: head }] }),
    'an old value'
  )
  t.ok(await isLeft({ ...one, more: [created('heads/pipelines', side), created('pipelines/1', side)] }), 'a hidden ref')
  t.ok(await isLeft({ ...one, more: [] }), 'the tag arrives, but no ref names it')
  // The other branch builds on the old value of the one that must be kept.
  const rewritten = commitOf(file('NEW', 'rewritten'), side)
  const forward = commitOf(file('NEW', 'forward'))
  const both = { ...caseOf(forward.new, [head]), new: side, old: head, kept: [MASTER] }
  t.ok(await isLeft({ ...both, more: [created('heads/new', forward.new)] }), 'a rewritten branch that must be kept')
  t.match(await pushBoth({ ...rewritten, old: head, more: [created('heads/new', side)] }), { small: true })
  const blocked = copy()
  const conflict = await requestOf({ ...forward, more: [created('heads/side/below', head)] })
  t.equal(await receiveSmall(blocked, conflict), false, 'a name that conflicts')
  t.equal(git(blocked, ['rev-parse', 'master']), head, 'no ref has moved')
})

// Packs that no ordinary client sends.

const person = 'Eve <eve@example.com> 1600000000 +0000'
const object = (type: number, content: string | Buffer): PackEntry => ({ type, content: Buffer.from(content) })
const blobId = (content: string) => idOf('blob', Buffer.from(content))
const entry = (mode: string, name: string, id: string) =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')])

/** A push of one commit, whose root tree consists of these bytes. */
function treeCase(tree: Buffer, more: PackEntry[] = []): Case {
  return commitCase(`tree ${idOf('tree', tree)}\nparent ${head}\nauthor ${person}\ncommitter ${person}\n\nx\n`, [
    object(TREE, tree),
    ...more
  ])
}

const commitCase = (text: string, more: PackEntry[] = []): Case => ({
  new: idOf('commit', Buffer.from(text)),
  pack: packOf([object(COMMIT, text), ...more])
})

t.test('trees that git would refuse are not received without it', async t => {
  const evil = object(BLOB, 'evil')
  const id = blobId('evil')
  const names = ['.git', '.GIT', '.git ', '.git.', 'git~1', 'GIT~2', '.', '..', '', 'a/b', '.git\u200c', '.g\u200cit']
  for (const name of [
    ...names,
    'a\\.git',
    '.git::$INDEX_ALLOCATION',
    '.gitmodules',
    'gitmod~1',
    '.gitmodules ',
    'x'.repeat(5000)
  ]) {
    t.ok(await isLeft(treeCase(entry('100644', name, id), [evil])), name)
  }
  const plain = entry('100644', 'plain', id)
  t.match(await pushBoth(treeCase(plain, [evil])), { small: true, accepted: true })
  const trees: Record<string, Buffer> = {
    'a name twice': Buffer.concat([plain, plain]),
    'a file and a folder of one name': Buffer.concat([plain, entry('40000', 'plain', rootTree)]),
    'not sorted': Buffer.concat([plain, entry('100644', 'a', id)]),
    'a folder at the place of a file': Buffer.concat([
      entry('40000', 'plain', rootTree),
      entry('100644', 'plain.x', id)
    ]),
    'a padded mode': entry('040000', 'plain', rootTree),
    'an odd mode': entry('100664', 'plain', id),
    'no mode': entry('', 'plain', id),
    'a link to attributes': entry('120000', '.gitattributes', id),
    'a folder of attributes': entry('40000', '.gitattributes', rootTree),
    'no object': entry('100644', 'plain', ZERO),
    'a missing blob': entry('100644', 'plain', 'a'.repeat(40)),
    'a missing folder': entry('40000', 'plain', 'a'.repeat(40)),
    'a folder that is a file': entry('40000', 'plain', aBlob),
    'a file that is a folder': entry('100644', 'plain', rootTree),
    'a new folder that is a file': entry('40000', 'plain', id),
    'a new submodule': entry('160000', 'plain', 'b'.repeat(40)),
    'cut off in an id': plain.subarray(0, -3),
    'cut off in a name': plain.subarray(0, 9),
    'bytes of a file': Buffer.from('evil')
  }
  for (const [name, tree] of Object.entries(trees)) {
    t.ok(await isLeft(treeCase(tree, tree.includes(Buffer.from(id, 'hex')) ? [evil] : [])), name)
  }
  const long = `* ${'x'.repeat(3000)}\n`
  const attributes = treeCase(entry('100644', '.gitattributes', blobId(long)), [object(BLOB, long)])
  t.match(await pushBoth(attributes), { small: false, accepted: false })
})

t.test('commits and tags that git would refuse are not received without it', async t => {
  const good = `tree ${rootTree}\nparent ${head}\nauthor ${person}\ncommitter ${person}\n\nx\n`
  t.match(await pushBoth(commitCase(good)), { small: true, accepted: true })
  t.match(await pushBoth(commitCase(good.replace('\n\n', '\nencoding x\ngpgsig a\n b\n\n'))), {
    small: true,
    accepted: true
  })
  const wrong: Record<string, string> = {
    'no tree': good.replace(/^tree.*\n/, ''),
    'a missing tree': good.replace(rootTree, 'a'.repeat(40)),
    'the tree of an older commit': good.replace(rootTree, git(original, ['rev-parse', 'master~2^{tree}'])),
    'a tree that is a file': good.replace(rootTree, aBlob),
    'a missing parent': good.replace(head, 'a'.repeat(40)),
    'no parent': good.replace(head, ZERO),
    'a parent that is a tree': good.replace(head, rootTree),
    'no author': good.replace(/author.*\n/, ''),
    'two authors': good.replace(/(author.*\n)/, '$1$1'),
    'no committer': good.replace(/committer.*\n/, ''),
    'no name': good.replace('author Eve ', 'author '),
    'no address': good.replace('author Eve <eve@example.com>', 'author Eve'),
    'a bad name': good.replace('author Eve', 'author E>ve'),
    'a date beyond all numbers': good.replace('1600000000', '9'.repeat(25)),
    'a padded date': good.replace('1600000000', '0160000000'),
    'no date': good.replace(' 1600000000 +0000', ''),
    'a NUL': good.replace('x\n', 'x\0y\n'),
    'a NUL in a line': good.replace('Eve', 'E\0ve'),
    'no message': good.slice(0, good.indexOf('\n\n')),
    nothing: ''
  }
  for (const [name, text] of Object.entries(wrong)) t.ok(await isLeft(commitCase(text)), name)
  const tag = `object ${head}\ntype commit\ntag v9\ntagger ${person}\n\nx\n`
  for (const [text, expected] of [
    [tag, true],
    [tag.replace(head, rootTree), false],
    [tag.replace('type commit', 'type tree'), false],
    [tag.replace('tag v9\n', ''), false],
    [tag.replace(head, 'a'.repeat(40)), false]
  ] as const) {
    const pushed = { pack: packOf([object(TAG, text)]), new: idOf('tag', Buffer.from(text)) }
    t.equal((await pushBoth({ ...pushed, old: ZERO, ref: 'refs/tags/v9' })).small, expected, text)
    t.match(await pushBoth(pushed), { small: false, accepted: false }, 'no branch points at a tag')
  }
})

// Not even git could repair it: each clone, repack and walk of the repository failed afterwards.
t.test('a tag does not call another object a commit', async t => {
  const source = copy()
  git(source, ['tag', 'blob', aBlob])
  const annotated = git(source, ['rev-parse', 'v1.0'])
  for (const id of [annotated, aBlob]) {
    const text = `object ${id}\ntype commit\ntag v9\ntagger ${person}\n\nx\n`
    const next = idOf('tag', Buffer.from(text))
    const pushed = { pack: packOf([object(TAG, text)]), new: next, old: ZERO, ref: 'refs/tags/v9' }
    t.match(await pushBoth(pushed, source), { small: false, accepted: false })
    const again = { pack: packOf([]), new: id, old: ZERO, ref: 'refs/tags/again' }
    t.match(
      await pushBoth(again, source),
      { small: false, accepted: true },
      'git receives a tag of anything but a commit'
    )
  }
})

t.test('packs that are damaged or hostile are not received without git', async t => {
  const tree = entry('100644', 'plain', blobId('plain'))
  const one = treeCase(tree, [object(BLOB, 'plain')])
  const { pack } = one
  const changed = (at: number, byte: number) => {
    const bytes = Buffer.from(pack)
    bytes[at] = byte
    return bytes
  }
  const commit = `tree ${idOf('tree', tree)}\nparent ${head}\nauthor ${person}\ncommitter ${person}\n\nx\n`
  const entries = [object(COMMIT, commit), object(TREE, tree), object(BLOB, 'plain')]
  const base = Buffer.alloc(65_536, 'x')
  const delta = (id: string, content: Buffer): PackEntry => ({ type: REF_DELTA, base: id, content })
  const packs: Record<string, Buffer> = {
    empty: Buffer.alloc(0),
    'no pack': Buffer.from('PACK'),
    'another version': changed(7, 9),
    'a wrong checksum': changed(pack.length - 1, (pack.at(-1) ?? 0) ^ 1),
    'cut off': pack.subarray(0, -30),
    'bytes after it': Buffer.concat([pack, Buffer.from('more')]),
    'too small a number': packOf(entries, 2),
    'too large a number': packOf(entries, 4),
    'billions of objects': packOf(entries, 4_000_000_000),
    'no objects': packOf([]),
    'an object twice': packOf([...entries, object(BLOB, 'plain')]),
    'an object that nothing needs': packOf([...entries, object(BLOB, 'other')]),
    'a missing blob': packOf(entries.slice(0, 2)),
    'a missing tree': packOf([entries[0] as PackEntry, entries[2] as PackEntry]),
    'a type that does not exist': packOf([...entries, object(5, 'x')]),
    'another one': packOf([...entries, object(0, 'x')]),
    'a delta of itself': packOf([...entries, object(OFFSET_DELTA, Buffer.from([0, 1, 1, 0x90, 1]))]),
    'a delta of a missing object': packOf([...entries, delta('a'.repeat(40), Buffer.from([1, 1, 0x90, 1]))]),
    'a delta beyond its base': packOf([...entries, delta(blobId('plain'), Buffer.from([5, 9, 0x91, 4, 9]))]),
    'a delta of another size': packOf([...entries, delta(blobId('plain'), Buffer.from([9, 1, 0x90, 1]))]),
    'an empty delta': packOf([...entries, delta(blobId('plain'), Buffer.alloc(0))]),
    'zeros of megabytes': packOf([...entries, object(BLOB, Buffer.alloc(30_000_000))]),
    'a delta of gigabytes': packOf([
      ...entries,
      object(BLOB, base),
      repeatingDelta({ id: idOf('blob', base), size: base.length }, base.length, 20_000)
    ])
  }
  for (const [name, bytes] of Object.entries(packs)) {
    t.ok(await isLeft({ ...one, pack: bytes }), name)
  }
  t.equal((await pushBoth(one)).small, true)
  for (let at = 0; at < pack.length; at++) {
    t.ok(await isLeft({ ...one, pack: changed(at, (pack[at] ?? 0) ^ 0x55) }), `a changed byte at ${at}`)
  }
})

t.test('a commit that exists but lacks objects cannot be brought back', async t => {
  const source = copy()
  const lost = git(source, ['commit-tree', '-m', 'lost', '-p', head, rootTree])
  const broken = `tree ${'a'.repeat(40)}\nparent ${head}\nauthor ${person}\ncommitter ${person}\n\nlost\n`
  const id = git(source, ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], broken)
  for (const parent of [lost, id]) {
    const text = `tree ${rootTree}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\n\nx\n`
    t.match(await pushBoth(commitCase(text), source), { small: false, accepted: parent === lost })
  }
})

t.test('git takes over when the ref is not what the client expects, or is locked', async t => {
  const one = commitOf(file('NEW', 'x'))
  t.match(await pushBoth({ ...one, old: side }), { small: false, accepted: false })
  t.match(await pushBoth({ ...one, old: ZERO }), { small: false, accepted: false })
  const locked = copy()
  writeFileSync(join(locked, `${MASTER}.lock`), '')
  t.equal(await receiveSmall(locked, await requestOf(one)), false)
  t.equal(git(locked, ['rev-parse', 'master']), head)
})

t.test('pushes that wait for a lock of their repository do not delay pushes to others', async t => {
  const locked = copy()
  git(locked, ['pack-refs', '--all'])
  writeFileSync(join(locked, 'packed-refs.lock'), '')
  const one = commitOf(file('NEW', 'x'))
  const deletion = { ref: 'refs/heads/side', old: side, new: ZERO }
  const request = await requestOf({ ...one, more: [deletion] })
  let ended = 0
  const waiting = Array.from({ length: 4 }, async () => {
    const received = await receiveSmall(locked, request)
    ended++
    return received
  })
  t.equal(await receiveSmall(copy(), await requestOf(one)), true)
  t.equal(ended, 0, 'the others wait')
  rmSync(join(locked, 'packed-refs.lock'))
  t.same((await Promise.all(waiting)).filter(Boolean), [true], 'one of them moves the refs')
})

t.test('the client gets the answer of git, after the effects are recorded', async t => {
  const one = commitOf(file('NEW', 'answered'))
  const { input, body, packAt, ...request } = await requestOf(one)
  const answers: string[] = []
  for (const small of [{ body, packAt }, undefined]) {
    const repository = copy()
    const path = process.env.PATH
    if (small) process.env.PATH = '/nonexistent'
    const beforeReport = async () => {
      t.equal(await refValue(repository, MASTER), one.new)
      return ['a line for the user']
    }
    const { output, done } = await receivePack(repository, { ...request, input, small, beforeReport })
    answers.push((await buffer(output)).toString('latin1'))
    process.env.PATH = path
    t.same(await done, [{ ref: MASTER, ok: true, reason: null }])
  }
  t.equal(answers[0], answers[1])
  const { output } = await receivePack(copy(), {
    ...request,
    input,
    small: { body, packAt },
    beforeReport: async () => {
      throw new Error('the database is away')
    }
  })
  await t.rejects(buffer(output), /the database is away/)
})

import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import {
  changedPaths,
  commitStats,
  commitsBetween,
  isAncestor,
  lastCommitOfPath
} from '../../src/git/history/commits.js'
import { openBlob, readBlob } from '../../src/git/objects/blob.js'
import { readCommit, readTag, readTree } from '../../src/git/objects/objects.js'
import {
  closeReaders,
  LARGE_OBJECT,
  objectInfo,
  readerCount,
  readObject,
  readObjectStart,
  readSmall
} from '../../src/git/objects/reader.js'
import { findEntry, type PathEntry, walkTree } from '../../src/git/objects/tree.js'
import { listRefs, refValue, resolveCommit, ZERO } from '../../src/git/refs/refs.js'
import { closeGitProcesses } from '../../src/git/repository/processes.js'
import { createRepository } from '../../src/git/repository/repository.js'
import t from '../helpers/tap.js'
import { git, repositoryWith } from './history.js'

const repository = await repositoryWith(t, 400)
t.teardown(() => closeGitProcesses())
const ask = (...args: string[]) => git(repository, args)
const head = ask('rev-parse', 'master')
const all = ask('rev-list', 'master').split('\n')

t.test('a commit has the fields that git shows', async t => {
  for (const id of [head, all[17] ?? '', all.at(-1) ?? '']) {
    const commit = await readCommit(repository, id)
    const shown = ask('show', '-s', '--format=%T%n%P%n%an%n%ae%n%at%n%cn%n%ct', id).split('\n')
    t.same(
      [
        commit?.treeId,
        commit?.parentIds.join(' '),
        commit?.authorName,
        commit?.authorEmail,
        String(Number(commit?.authoredDate) / 1000),
        commit?.committerName,
        String(Number(commit?.committedDate) / 1000)
      ],
      shown
    )
  }
  t.equal((await readCommit(repository, head))?.message, 'odd things\n\nwith a body\n')
  t.equal(await readCommit(repository, 'b'.repeat(40)), null)
  t.equal(await readCommit(repository, ask('rev-parse', 'master:lib')), null, 'a tree is not a commit')
})

t.test('a commit with a signature, an encoding and invalid fields is parsed', async t => {
  const tree = ask('rev-parse', 'master^{tree}')
  const raw = Buffer.concat([
    Buffer.from(`tree ${tree}\nauthor J`),
    Buffer.from([0xf6]),
    Buffer.from('rg <> 99999999999999999 +0000\ncommitter <c@example.com> 12 +0000\nencoding ISO-8859-1\n'),
    Buffer.from('gpgsig -----BEGIN\n \n author Evil <e> 1 +0000\n -----END\n\nGr'),
    Buffer.from([0xfc]),
    Buffer.from('n\n')
  ])
  const id = git(repository, ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], raw)
  t.match(await readCommit(repository, id), {
    authorName: 'Jörg',
    authorEmail: '',
    authoredDate: new Date('9999-12-31T23:59:59Z'),
    committerName: '',
    committerEmail: 'c@example.com',
    message: 'Grün\n',
    parentIds: []
  })
})

async function listTree(path: string, recursive: boolean, limit = 10_000): Promise<PathEntry[]> {
  const root = await findEntry(repository, head, path)
  const listed: PathEntry[] = []
  await walkTree(repository, { id: root?.id ?? '', folder: path, recursive }, entry => listed.push(entry) < limit)
  return listed
}

t.test('a tree is listed as git lists it', async t => {
  const lines = (args: string[]) =>
    execFileSync('git', ['ls-tree', '-z', ...args], { cwd: repository })
      .toString()
      .replace('\ufffd', '\\377')
      .split('\0')
      .filter(Boolean)
  const asLines = (entries: PathEntry[]) => entries.map(({ mode, type, id, path }) => `${mode} ${type} ${id}\t${path}`)
  t.same(asLines(await listTree('', false)), lines([head]))
  t.same(asLines(await listTree('', true)), lines(['-r', '-t', head]))
  t.same(asLines(await listTree('lib', true)), lines(['-r', '-t', head, 'lib/']).slice(1))
  t.equal((await listTree('', true, 7)).length, 7)
})

t.test('entries of every kind are found', async t => {
  t.match(await findEntry(repository, head, 'with space/ä "quoted".txt'), { mode: '100644', type: 'blob' })
  t.match(await findEntry(repository, head, 'link'), { mode: '120000', type: 'blob' })
  t.match(await findEntry(repository, head, 'module'), { mode: '160000', type: 'commit', id: 'a'.repeat(40) })
  t.match(await findEntry(repository, head, 'bad-\\377-utf8'), { mode: '100644' })
  t.match(await findEntry(repository, head, ''), { type: 'tree', id: ask('rev-parse', 'master^{tree}') })
  t.equal(await findEntry(repository, head, 'module/below'), null)
  t.equal(await findEntry(repository, head, 'bin/run/below'), null)
  for (const path of [
    '/bin',
    'bin//run',
    'bin/../bin',
    './bin',
    'bin/',
    '.git/x',
    'a/.GIT',
    'a\0b',
    'git~1',
    '.g\u200cit',
    'x'.repeat(5000)
  ]) {
    await t.rejects(findEntry(repository, head, path), { name: 'InvalidPath' }, JSON.stringify(path.slice(0, 20)))
  }
})

t.test('reads small, empty, binary, large and missing blobs', async t => {
  const id = (path: string) => ask('rev-parse', `master:${path}`)
  t.equal((await readBlob(repository, id('bin/run'), 1000))?.toString(), '#!/bin/sh\n')
  t.equal((await readBlob(repository, id('empty'), 0))?.length, 0)
  t.same(await readBlob(repository, id('binary'), 1000), Buffer.from([0, 255, 10, 1]))
  t.equal((await readBlob(repository, id('big.bin'), 1 << 24))?.length, 3 * 1024 * 1024)
  await t.rejects(readBlob(repository, id('big.bin'), 1000), { name: 'TooLarge' })
  t.equal(await readBlob(repository, head, 1000), null, 'a commit is not a blob')
  for (const path of ['big.bin', 'empty', 'binary']) {
    const opened = await openBlob(repository, id(path))
    if (!opened) throw new Error('no blob')
    const content = await buffer(opened.stream)
    t.equal(content.length, opened.size)
    t.equal(git(repository, ['hash-object', '--stdin'], content), id(path))
  }
  const half = await openBlob(repository, id('big.bin'))
  half?.stream.destroy()
  t.equal(await openBlob(repository, 'c'.repeat(40)), null)
})

t.test('a name resolves in this order: full name, branch, tag, id', async t => {
  ask('branch', 'v1.0', 'master~3')
  ask('branch', head.slice(0, 7), 'master~4')
  ask('update-ref', 'refs/internal/secret', 'master')
  const to = (spec: string) => ask('rev-parse', spec)
  t.same(await resolveCommit(repository, 'master'), { id: head, ref: 'refs/heads/master' })
  t.same(await resolveCommit(repository, 'feature/x'), { id: to('feature/x'), ref: 'refs/heads/feature/x' })
  t.same(await resolveCommit(repository, 'v1.0'), { id: to('master~3'), ref: 'refs/heads/v1.0' })
  t.same(await resolveCommit(repository, 'refs/tags/v1.0'), { id: head, ref: 'refs/tags/v1.0' })
  t.same(await resolveCommit(repository, 'light'), { id: head, ref: 'refs/tags/light' })
  t.same(await resolveCommit(repository, head.slice(0, 7)), {
    id: to('master~4'),
    ref: `refs/heads/${head.slice(0, 7)}`
  })
  t.same(await resolveCommit(repository, head.slice(0, 9).toUpperCase()), { id: head, ref: null })
  t.same(await resolveCommit(repository, to('refs/tags/v1.0')), { id: head, ref: null }, "an annotated tag's id")
  const nothing = [
    'nowhere',
    'HEAD',
    'master~1',
    'master^',
    'master:lib',
    '-x',
    '',
    'abc',
    'a\nb',
    'refs/internal/secret',
    '@{-1}'
  ]
  for (const name of nothing) t.equal(await resolveCommit(repository, name), null, JSON.stringify(name))
  t.equal(await refValue(repository, 'refs/heads/nowhere'), null)
  await t.rejects(objectInfo(repository, 'master\ninfo x'), TypeError)
  await t.rejects(objectInfo(repository, `${head} ${head}`), TypeError)
})

t.test('refs are listed with the targets of tags', async t => {
  const tags = await listRefs(repository, 'refs/tags/')
  t.match(tags, [
    { name: 'refs/tags/light', type: 'commit', target: null },
    { name: 'refs/tags/v1.0', type: 'tag', target: head }
  ])
  t.match(await readTag(repository, tags[1]?.id ?? ''), {
    name: 'v1.0',
    targetId: head,
    targetType: 'commit',
    taggerName: 'Tess',
    message: 'first release\n'
  })
  t.same(await listRefs(repository, 'refs/nothing/'), [])
})

t.test('reads the changes of a plain commit, a merge, a root and a rename; many at the same time', async t => {
  for (const id of all.slice(0, 120)) {
    const first = ask('rev-parse', `${id}^1`)
    const shown = ask('diff', '--shortstat', first, id)
    const number = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(shown)?.[1] ?? 0)
    t.same(await commitStats(repository, id), { additions: number('insertion'), deletions: number('deletion') })
    if (id === all[10]) break
  }
  const root = all.at(-1) ?? ''
  t.same(await changedPaths(repository, root), { added: ['lib/part-1/file-1.txt'], modified: [], removed: [] })
  const asked = await Promise.all(all.slice(0, 250).map(id => changedPaths(repository, id)))
  const moved = asked.find(paths => paths?.added.some(path => path.startsWith('moved/')))
  t.match(moved, { added: [/^moved\//] })
  t.ok(asked[0]?.added.includes('with space/ä "quoted".txt'))
  t.equal(await changedPaths(repository, 'd'.repeat(40)), null)
})

t.test('history: last commit of a path, ranges, ancestors', async t => {
  const paths = ['lib', 'lib/part-3', 'bin/run', 'with space/ä "quoted".txt', 'big.bin']
  const both = await Promise.all([...paths, ...paths].map(path => lastCommitOfPath(repository, head, path)))
  const expected = paths.map(path => ask('--literal-pathspecs', 'rev-list', '-1', 'master', '--', path))
  t.same(both, [...expected, ...expected])
  t.equal(await lastCommitOfPath(repository, head, ':(glob)**'), null, 'pathspec magic has no effect')
  t.equal(await lastCommitOfPath(repository, head, ''), head)
  const before = all[30] ?? ''
  const between = await commitsBetween(repository, before, head, 20)
  t.same(between.ids, ask('rev-list', '-20', `${before}..master`).split('\n'))
  t.equal(between.total, Number(ask('rev-list', '--count', `${before}..master`)))
  t.equal((await commitsBetween(repository, ZERO, head, 5)).total, all.length)
  for (const [from, to] of [
    [2, 1],
    [9, 7],
    [12, 3],
    [40, 35],
    [1, 4],
    [25, 25]
  ] as const) {
    const range = [all[from] ?? '', all[to] ?? ''] as const
    const ids = ask('rev-list', `${range[0]}..${range[1]}`).split('\n').filter(Boolean)
    t.same(await commitsBetween(repository, ...range, 20), { ids: ids.slice(0, 20), total: ids.length })
  }
  const root = all.at(-1) ?? ''
  t.same(await commitsBetween(repository, ZERO, root, 5), { ids: [root], total: 1 })
  t.same(await commitsBetween(repository, head, ZERO, 5), { ids: [], total: 0 })
  t.equal(await isAncestor(repository, before, head), true)
  t.equal(await isAncestor(repository, head, before), false)
  await t.rejects(isAncestor(repository, 'e'.repeat(40), head), { name: 'GitFailure', code: 128 })
})

t.test('a thousand concurrent reads succeed although the readers are killed', async t => {
  const ids = ask('rev-list', '--objects', 'master')
    .split('\n')
    .map(line => line.slice(0, 40))
    .slice(0, 1000)
  const reads = ids.map(id => readObject(repository, id))
  await objectInfo(repository, head)
  const children = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)])
    .toString()
    .split('\n')
  for (const line of children.filter(line => line.includes('--batch-command')))
    process.kill(Number.parseInt(line, 10), 'SIGKILL')
  const objects = await Promise.all(reads)
  for (const [index, object] of objects.entries())
    if (object?.id !== ids[index]) t.fail(`wrong answer for ${ids[index]}`)
  t.equal(objects.length, ids.length)
  t.equal(readerCount() <= 2, true)
})

t.test('large objects do not block the questions behind them', async t => {
  const path = `${t.testdir()}/large.git`
  await createRepository(path)
  const sizes = [1024 * 1024, 1024 * 1024 + 1, 20 * 1024 * 1024]
  const large = sizes.map(size => git(path, ['hash-object', '-w', '--stdin'], Buffer.alloc(size, 'large ')))
  const small = git(path, ['hash-object', '-w', '--stdin'], 'small')
  const asked = [...large, small, ...large, small]
  const found = await Promise.all(asked.map(id => readSmall(path, id)))
  const kept = ([...sizes, 5] as const).map(size => ({ size, content: size <= LARGE_OBJECT ? size : undefined }))
  t.same(
    found.map(object => ({ size: object?.size, content: object?.content?.length })),
    [...kept, ...kept]
  )
  t.same(
    (await Promise.all(large.map(id => readObject(path, id)))).map(object => object?.content.length),
    sizes
  )
  t.equal((await readObjectStart(path, large[2] ?? ''))?.content.length, LARGE_OBJECT)
  await closeReaders(path)
})

t.test('a reader sees new objects, and refs that were moved or deleted', async t => {
  t.equal(await refValue(repository, 'refs/heads/new'), null)
  ask('branch', 'new', 'master~1')
  t.equal(await refValue(repository, 'refs/heads/new'), ask('rev-parse', 'master~1'))
  ask('pack-refs', '--all')
  ask('repack', '-a', '-d', '-q')
  t.equal(await refValue(repository, 'refs/heads/new'), ask('rev-parse', 'master~1'))
  ask('branch', '-D', 'new')
  t.equal(await refValue(repository, 'refs/heads/new'), null)
  const id = git(repository, ['hash-object', '-w', '--stdin'], 'fresh')
  t.equal((await readBlob(repository, id, 100))?.toString(), 'fresh')
})

t.test('reads more repositories than there are readers, and one folder that is not a repository', async t => {
  const folder = t.testdir()
  const paths = Array.from({ length: 40 }, (_, index) => `${folder}/${index}.git`)
  for (const path of paths) await createRepository(path)
  const values = await Promise.all([...paths, ...paths].map(path => refValue(path, 'refs/heads/master')))
  t.same([...new Set(values)], [null])
  t.ok(readerCount() <= 16)
  const none = Array.from({ length: 50 }, () => objectInfo(`${folder}/none.git`, head))
  for (const outcome of await Promise.allSettled(none)) t.equal(outcome.status, 'rejected')
  await closeReaders()
  t.equal(readerCount(), 0)
})

t.test('only the read of a damaged object fails', async t => {
  const path = `${t.testdir()}/damaged.git`
  await createRepository(path)
  const good = git(path, ['hash-object', '-w', '--stdin'], 'good')
  const bad = git(path, ['hash-object', '-w', '--stdin'], 'bad'.repeat(1000))
  const file = `${path}/objects/${bad.slice(0, 2)}/${bad.slice(2)}`
  chmodSync(file, 0o600)
  writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, -4), Buffer.from('oops')]))
  const reads = await Promise.allSettled([readBlob(path, good, 100), readBlob(path, bad, 10_000), readTree(path, good)])
  t.match(reads, [{ status: 'fulfilled' }, { status: 'rejected' }, { status: 'fulfilled', value: null }])
  await closeReaders(path)
})

// Compares the changes of commits with those of git.
import { execFileSync } from 'node:child_process'
import { changedPaths, commitStats } from '../../../src/git/history/commits.js'
import { countLines } from '../../../src/git/history/line-counts.js'
import { diffTrees } from '../../../src/git/history/tree-diff.js'
import { readCommit } from '../../../src/git/objects/objects.js'
import { walkTree } from '../../../src/git/objects/tree.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t from '../../helpers/tap.js'
import { environment, git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

/** Returns a generator of numbers that is the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

/** Returns commits that each change some random files in a few folders, including links, scripts and submodules. */
function randomHistory(count: number): string {
  const next = numbers(7)
  const text = (content: string) => `data ${Buffer.byteLength(content)}\n${content}\n`
  // With few different lines, many of them are frequent; with many, most of them are unique.
  const lines = () => {
    const words = 3 + next(200)
    return Array.from({ length: next(120) }, () => `word ${next(next(words) + 1)}`)
  }
  const texts = new Map<string, string[]>()
  const edited = (path: string) => {
    const old = texts.get(path) ?? lines()
    const at = next(old.length + 1)
    const some =
      next(4) === 0 ? lines() : [...old.slice(0, at), ...lines().slice(0, next(9)), ...old.slice(at + next(6))]
    texts.set(path, some)
    return some.join('\n') + (next(3) ? '\n' : '')
  }
  const names = ['a', 'a.b', 'a/b', 'a/b/c', 'ä', 'z/😀', 'z/\uff5e', 'z0', 'z/a', 'd/e/f', 'd/e.x']
  const change = () => {
    const path = names[next(names.length)] ?? ''
    const kind = next(10)
    if (kind === 0) return `D ${path}\n`
    if (kind === 1) return `M 120000 inline ${path}\n${text('target')}`
    if (kind === 2) return `M 160000 ${String(next(9)).repeat(40)} ${path}\n`
    if (kind === 3) return `M 100644 inline ${path}\n${text(`\0${lines().join('\n')}`)}`
    return `M ${kind === 4 ? '100755' : '100644'} inline ${path}\n${text(edited(path))}`
  }
  return Array.from({ length: count }, (_, at) => {
    const changes = Array.from({ length: 1 + next(4) }, change).join('')
    return `commit refs/heads/master\ncommitter A <a@example.com> ${1_600_000_000 + at} +0000\n${text(`commit ${at}`)}${changes}`
  }).join('')
}

const shown = (repository: string, args: readonly string[]) =>
  execFileSync('git', ['log', '--format=tformat:%x01%H', '--root', '-m', '--first-parent', ...args, 'master'], {
    cwd: repository,
    env: environment,
    maxBuffer: 1 << 28
  })
    .toString()
    .split('\x01')
    .slice(1)

/** Returns all commits of master: their ids, and the output of git for each. */
const perCommit = (repository: string, args: readonly string[]): [id: string, text: string][] =>
  shown(repository, args).map(text => [text.slice(0, 40), text.slice(40)])

t.test('commits have the same changes as in git', async t => {
  const repository = await repositoryWith(t)
  git(repository, ['fast-import', '--quiet'], randomHistory(300))
  let counted = 0
  for (const [id, text] of perCommit(repository, ['--name-status', '--no-renames', '-z'])) {
    const tokens = text.split('\0').filter(token => token.trim() !== '')
    const paths = tokens.filter((_, at) => at % 2 === 1)
    const commit = await readCommit(repository, id)
    const [parentId] = commit?.parentIds ?? []
    const parent = parentId ? await readCommit(repository, parentId) : null
    const changes = await diffTrees(repository, parent?.treeId ?? null, commit?.treeId ?? null)
    t.same(
      changes?.map(({ path }) => path),
      paths,
      `the paths of ${id}`
    )
    if (changes && (await countLines(repository, changes))) counted++
    const found = await changedPaths(repository, id)
    const letters = tokens.filter((_, at) => at % 2 === 0).map(token => token.trim())
    const of = (wanted: RegExp) => paths.filter((_, at) => wanted.test(letters[at] ?? ''))
    t.same(found, { added: of(/A/), modified: of(/[MT]/), removed: of(/D/) })
  }
  for (const [id, text] of perCommit(repository, ['--shortstat', '--no-renames'])) {
    const count = (what: string) => Number(new RegExp(`(\\d+) ${what}`).exec(text)?.[1] ?? 0)
    const stats = { additions: count('insertion'), deletions: count('deletion') }
    t.same(await commitStats(repository, id), stats, `the lines of ${id}`)
  }
  t.ok(counted > 100 && counted < 300, `${counted} commits are counted without git`)
})

t.test('large and unusual trees are left to git', async t => {
  const repository = await repositoryWith(t)
  const blob = git(repository, ['hash-object', '-w', '--stdin'], 'text\n')
  const treeOf = (branch: string, paths: readonly string[]) => {
    const files = paths.map(path => `M 100644 ${blob} ${path}\n`).join('')
    const head = `commit refs/heads/${branch}\ncommitter A <a@example.com> 1600000000 +0000\ndata 0\n\n`
    git(repository, ['fast-import', '--quiet'], head + files)
    return git(repository, ['rev-parse', `${branch}^{tree}`])
  }
  const many = treeOf(
    'many',
    Array.from({ length: 2001 }, (_, at) => `f${at}`)
  )
  t.equal(await diffTrees(repository, null, many), undefined, 'more than 2,000 changes')
  const folders = treeOf(
    'folders',
    Array.from({ length: 301 }, (_, at) => `d${at}/f`)
  )
  t.equal(await diffTrees(repository, null, folders), undefined, 'more than 300 folders')
  const raw = (...names: Buffer[]) =>
    Buffer.concat(names.flatMap(name => [Buffer.from('100644 '), name, Buffer.from([0]), Buffer.from(blob, 'hex')]))
  const written = (content: Buffer) =>
    git(repository, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], content)
  for (const names of [
    [Buffer.from([0xff])],
    [Buffer.from('b'), Buffer.from('a')],
    [Buffer.from('a'), Buffer.from('a')]
  ]) {
    t.equal(await diffTrees(repository, null, written(raw(...names))), undefined)
  }
  t.same(await diffTrees(repository, many, many), [])
})

t.test('listing and comparing folders with very long names let other work run', async t => {
  const repository = await repositoryWith(t)
  const treeOf = (lines: readonly string[]) => git(repository, ['mktree', '--missing'], `${lines.join('\n')}\n`)
  const name = (at: number) => `${at}`.padStart(60_000, 'n')
  const numbered = (count: number, line: (at: number) => string) =>
    treeOf(Array.from({ length: count }, (_, at) => line(at)))
  const folderOf = (blob: string) => numbered(16, at => `100644 blob ${blob.repeat(40)}\t${name(at)}`)
  const rootOf = (blob: string) => {
    const folder = folderOf(blob)
    return numbered(5, at => `040000 tree ${folder}\td${at}`)
  }
  const [before, after] = [rootOf('1'), rootOf('2')]
  // The second time, everything is in the cache, so nothing else makes them wait.
  for (const least of [0, 10]) {
    const turns = await turnsDuring(async () => t.equal((await diffTrees(repository, before, after))?.length, 80))
    t.ok(turns >= least, `${turns} turns`)
  }
  for (const least of [0, 15]) {
    let entries = 0
    const listed = { id: before, folder: '', recursive: true }
    const turns = await turnsDuring(() => walkTree(repository, listed, () => ++entries > 0))
    t.equal(entries, 85)
    t.ok(turns >= least, `${turns} turns`)
  }
})

/** Returns how many turns of the event loop other work gets. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = () => {
    if (isOver) return
    turns++
    setImmediate(count)
  }
  setImmediate(count)
  await work()
  isOver = true
  return turns
}

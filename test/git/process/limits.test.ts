// Runs real git with limits that hostile objects reach.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../../src/config.js'
import { changedPaths, commitStats } from '../../../src/git/history/commits.js'
import { patchesOf } from '../../../src/git/history/patches.js'
import { readObject } from '../../../src/git/objects/reader.js'
import { type Pooled, ProcessPool } from '../../../src/git/process/pool.js'
import { GitLimit, runGit } from '../../../src/git/process/run.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import { BLOB, idOf, packOf, repeatingDelta } from '../../helpers/packs.js'
import t, { type Test } from '../../helpers/tap.js'
import { treeOfTrees } from '../../helpers/trees.js'
import { git, repositoryWith } from '../history.js'

const SMALLEST = String(128 * 1024 * 1024)

t.teardown(() => closeGitProcesses())

/** Sets limits for one test. */
function limit(t: Test, values: Record<string, string>): void {
  Object.assign(process.env, values)
  loadConfig({})
  t.teardown(async () => {
    await closeGitProcesses()
    for (const name of Object.keys(values)) delete process.env[name]
    loadConfig({})
  })
}

t.test('a commit with more files than fit into memory is refused, and concurrent questions are answered', async t => {
  limit(t, { GITSTEAD_GIT_MEMORY_LIMIT: SMALLEST })
  const repository = await repositoryWith(t, 20)
  const head = git(repository, ['rev-parse', 'master'])
  const bomb = await treeOfTrees(t.testdirName, 10, 10)
  git(repository, ['fetch', '-q', t.testdirName, `${bomb}:refs/heads/bomb`])
  const [stats, paths, neighbour] = await Promise.allSettled([
    commitStats(repository, bomb),
    changedPaths(repository, bomb),
    commitStats(repository, head)
  ])
  t.match(stats, { reason: { name: 'GitLimit', message: /more than 128 MiB of memory .*git\.memory_limit/ } })
  t.match(paths, { reason: { name: 'GitLimit' } })
  t.match(neighbour, { value: { additions: Number } })
  await t.rejects(patchesOf(repository, bomb), { name: 'GitLimit' }, 'a list of so many files is refused, too')
  const again = commitStats(repository, bomb)
  t.equal(await again.catch(error => error), (stats as PromiseRejectedResult).reason, 'git is not asked again')
  await t.rejects(runGit(['diff-tree', '-r', '--root', bomb], { repository }), {
    name: 'GitLimit',
    message: /128 MiB of memory/
  })
})

t.test('a change that takes too much memory to compare is listed without its text', async t => {
  limit(t, { GITSTEAD_GIT_MEMORY_LIMIT: SMALLEST })
  const repository = await repositoryWith(t)
  const commit = (content: string) =>
    `commit refs/heads/master\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx\nM 100644 inline long\ndata ${content.length}\n${content}\n`
  git(repository, ['fast-import', '--quiet'], commit('a\n'.repeat(12_000_000)) + commit('b\nb\n'.repeat(6_000_000)))
  const found = await patchesOf(repository, git(repository, ['rev-parse', 'master']))
  t.match(found, { isCut: false, patches: [{ newPath: 'long', status: 'M', text: '', isTooLarge: true }] })
  t.equal(found?.patches.length, 1)
})

t.test('a process that computes for too long is ended', async t => {
  limit(t, { GITSTEAD_GIT_PROCESSOR_LIMIT: '1' })
  const repository = await repositoryWith(t)
  await t.rejects(runGit(['-c', 'alias.turn=!while :; do :; done', 'turn'], { repository }), {
    name: 'GitLimit',
    message: /more than 1 s of processor time/
  })
})

t.test('an object whose base does not fit into memory is refused, and others are read', async t => {
  limit(t, { GITSTEAD_GIT_MEMORY_LIMIT: SMALLEST })
  const repository = await repositoryWith(t)
  const base = Buffer.alloc(80 * 1024 * 1024, 'x')
  const small = Buffer.alloc(100, 'x')
  const baseId = idOf('blob', base)
  const pack = packOf([{ type: BLOB, content: base }, repeatingDelta({ id: baseId, size: base.length }, 100, 1)])
  git(repository, ['index-pack', '--stdin'], pack)
  const file = join(t.testdirName, 'other')
  writeFileSync(file, 'other')
  const other = git(repository, ['hash-object', '-w', file])
  await t.rejects(readObject(repository, idOf('blob', small)), GitLimit)
  t.equal((await readObject(repository, other))?.content.toString(), 'other')
})

t.test('a pool starts no more processes while all of them are busy', async t => {
  const opened: { repository: string; busy: number }[] = []
  const pool = new ProcessPool<Pooled & { repository: string }>(
    { lanes: 2, limit: () => 2 },
    async (repository, gone) => {
      const state = { repository, busy: 1 }
      opened.push(state)
      return { repository, isOpen: () => true, pending: () => state.busy, close: async () => gone() }
    }
  )
  await pool.of('/one')
  await pool.of('/two')
  const third = pool.of('/three')
  t.equal((await pool.of('/one')).repository, '/one', 'a busy process accepts another question')
  t.equal(opened.length, 2)
  for (const state of opened) state.busy = 0
  t.equal((await third).repository, '/three')
  t.equal(opened.length, 3)
})

// git leaves the draft of a commit-graph behind when it is killed or the disk is full, and never removes it.
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeCommitGraph } from '../../../src/git/repository/maintenance.js'
import { createRepository } from '../../../src/git/repository/repository.js'
import { testDatabase } from '../../helpers/database.js'
import t from '../../helpers/tap.js'
import { gitWith } from '../../helpers/trees.js'

await testDatabase()

async function subject(folder: string) {
  const path = join(folder, 'a.git')
  await createRepository(path)
  const tree = gitWith(path, ['mktree'], '').trim()
  const commit = gitWith(path, ['commit-tree', tree, '-m', 'first']).trim()
  gitWith(path, ['update-ref', 'refs/heads/master', commit])
  await writeCommitGraph(path)
  const graphs = join(path, 'objects/info/commit-graphs')
  writeFileSync(join(graphs, 'tmp_graph_AbCdEf'), 'half a graph')
  return { path, graphs, lock: join(graphs, 'commit-graph-chain.lock') }
}

t.test('the next commit-graph removes the drafts', async t => {
  const { path, graphs } = await subject(t.testdir())
  await writeCommitGraph(path)
  t.notMatch(readdirSync(graphs).join(), /tmp_|lock/)
})

t.test('while another git writes, its draft stays', async t => {
  const { path, graphs, lock } = await subject(t.testdir())
  writeFileSync(lock, '')
  await writeCommitGraph(path) // The graph has the only commit, so git needs no lock.
  t.ok(existsSync(join(graphs, 'tmp_graph_AbCdEf')))
  t.ok(existsSync(lock))
})

// Applies the change of one commit on top of another, without a work tree.
import { DamagedRepository, readCommit } from '../objects/objects.js'
import { isObjectId } from '../objects/reader.js'
import { askGit } from '../process/questions.js'
import { GitFailure } from '../process/run.js'
import { prepareBase } from './write.js'

const ID = /^[0-9a-f]{40}/

/**
 * Returns the tree that `onto` has with the change of `commit`, compared with its first parent; null when they
 * conflict. The objects of the tree are then durable. It takes one process, with the usual limits.
 */
export async function pickTree(repository: string, commit: string, onto: string): Promise<string | null> {
  if (!isObjectId(commit) || !isObjectId(onto)) throw new TypeError('not commits')
  const [picked, target] = await Promise.all([readCommit(repository, commit), readCommit(repository, onto)])
  if (!picked || !target) throw new DamagedRepository(repository, `the commit ${picked ? onto : commit} is missing`)
  const [parent = null] = picked.parentIds
  // Git uses the best common ancestor as the base of a merge. Therefore this merges `commit` with a commit that has the
  // tree of `onto` and the parent of `commit`. Nothing refers to the new commit, and pruning removes it.
  const base = prepareBase(repository, { parent, treeId: target.treeId })
  await base.write()
  const args = ['merge-tree', '--write-tree', '--no-messages', '--allow-unrelated-histories', base.id, commit]
  try {
    const output = await askGit(repository, args)
    return ID.exec(output.toString())?.[0] ?? null
  } catch (error) {
    if (error instanceof GitFailure && error.code === 1) return null
    throw error
  }
}

// Applies the change of one commit on top of another, without a work tree.
import { DamagedRepository, readCommit } from '../objects/objects.js'
import { isObjectId } from '../objects/reader.js'
import { askGit } from '../process/questions.js'
import { GitFailure } from '../process/run.js'
import { prepareBase } from './write.js'

const ID = /^[0-9a-f]{40}/

/**
 * Returns the tree that `onto` has with the change of `commit`, compared with its first parent; null when the two conflict. The
 * objects of the tree are durable then. It costs one process; those of large merges are bounded as all are.
 */
export async function pickTree(repository: string, commit: string, onto: string): Promise<string | null> {
  if (!isObjectId(commit) || !isObjectId(onto)) throw new TypeError('not commits')
  const [picked, target] = await Promise.all([readCommit(repository, commit), readCommit(repository, onto)])
  if (!picked || !target) throw new DamagedRepository(repository, `the commit ${picked ? onto : commit} is missing`)
  const [parent = null] = picked.parentIds
  // Git takes the best common ancestor for the base of a merge. So this merges a commit beside `commit`: with the tree of
  // `onto`, and with the same parent. Nothing refers to it, and pruning removes it.
  const beside = prepareBase(repository, { parent, treeId: target.treeId })
  await beside.write()
  const args = ['merge-tree', '--write-tree', '--no-messages', '--allow-unrelated-histories', beside.id, commit]
  try {
    const output = await askGit(repository, args)
    return ID.exec(output.toString())?.[0] ?? null
  } catch (error) {
    if (error instanceof GitFailure && error.code === 1) return null
    throw error
  }
}

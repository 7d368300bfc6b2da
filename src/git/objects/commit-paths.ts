// The paths of the files of a commit.
import { readCommit } from './objects.js'
import { walkTree } from './tree.js'

/** Returns the paths of the files of a commit: one more than `most` when there are more. */
export async function commitPaths(repository: string, commitId: string, most: number): Promise<string[]> {
  const commit = await readCommit(repository, commitId)
  if (!commit) return []
  const paths: string[] = []
  await walkTree(repository, { id: commit.treeId, folder: '', recursive: true }, entry => {
    if (entry.type !== 'tree') paths.push(entry.path)
    return paths.length <= most
  })
  return paths
}

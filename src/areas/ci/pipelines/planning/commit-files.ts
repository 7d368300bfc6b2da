// Reads the files of a commit for a CI file.
import { TooLarge } from '../../../../errors.js'
import { readCommit } from '../../../../git/history/commits.js'
import { readBlob } from '../../../../git/objects/blob.js'
import { InvalidPath } from '../../../../git/objects/path.js'
import { findEntry, walkTree } from '../../../../git/objects/tree.js'

export const CI_FILE_LIMIT = 1_048_576
/** Not specified: the maximum number of files of a commit that patterns of `exists` and `include` search. */
const MOST_FILES = 200_000

/** A commit has more files than the patterns of a CI file may search. */
export class TooManyFiles extends Error {}

/** Returns the text of a file of a commit; null when it does not exist or exceeds the limit of CI files. */
export async function readCommitText(repository: string, commitId: string, path: string): Promise<string | null> {
  try {
    const entry = await findEntry(repository, commitId, path)
    const content = entry?.type === 'blob' ? await readBlob(repository, entry.id, CI_FILE_LIMIT) : null
    return content?.toString('utf8') ?? null
  } catch (error) {
    // Other errors, such as too many processes, are temporary: the job is retried.
    if (error instanceof TooLarge || error instanceof InvalidPath) return null
    throw error
  }
}

/** Returns the ids of the contents of files; null for a path that is not a file. */
export async function idsOfFiles(
  repository: string,
  commitId: string,
  paths: readonly string[]
): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for (const path of paths) {
    const entry = await findEntry(repository, commitId, path).catch(error => {
      if (error instanceof InvalidPath) return null
      throw error
    })
    if (entry?.type === 'blob') ids.set(path, entry.id)
  }
  return ids
}

/** Returns the paths of all files. Throws TooManyFiles. */
export async function listCommitFiles(repository: string, commitId: string): Promise<string[]> {
  const commit = await readCommit(repository, commitId)
  if (!commit) return []
  const paths: string[] = []
  await walkTree(repository, { id: commit.treeId, folder: '', recursive: true }, entry => {
    if (entry.type !== 'tree') paths.push(entry.path)
    return paths.length <= MOST_FILES
  })
  if (paths.length <= MOST_FILES) return paths
  throw new TooManyFiles(`searches files by patterns in a repository with more than ${MOST_FILES} files`)
}

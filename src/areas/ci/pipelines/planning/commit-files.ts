// Reads the files of a commit for a CI file.
import { commitPaths } from '../../../../git/objects/commit-paths.js'
import { InvalidPath } from '../../../../git/objects/path.js'
import { findEntry } from '../../../../git/objects/tree.js'

/** Not specified: the maximum number of files of a commit that patterns of `exists` and `include` search. */
export const MOST_FILES = 200_000

/** A commit has more files than the patterns of a CI file may search. */
export class TooManyFiles extends Error {}

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
export const listCommitFiles = async (repository: string, commitId: string): Promise<string[]> =>
  requireFew(await commitPaths(repository, commitId, MOST_FILES))

/** Throws TooManyFiles. */
export function requireFew(paths: string[]): string[] {
  if (paths.length <= MOST_FILES) return paths
  throw new TooManyFiles(`searches files by patterns in a repository with more than ${MOST_FILES} files`)
}

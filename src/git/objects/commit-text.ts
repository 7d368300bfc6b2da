// Reads short text files of a commit, such as CI files.
import { TooLarge } from '../../errors.js'
import { readBlob } from './blob.js'
import { InvalidPath } from './path.js'
import { findEntry } from './tree.js'

export const CI_FILE_LIMIT = 1_048_576

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

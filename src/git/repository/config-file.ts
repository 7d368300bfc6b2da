// Reads a file of a commit that has the form of git's own configuration.
import { blobSize } from '../objects/blob.js'
import { findEntry } from '../objects/tree.js'
import { GitFailure, GitTimeout, runGit } from '../process/run.js'

/** Bytes. */
const LARGEST = 65_536
const LINK = '120000'

/**
 * Returns the values by their keys (`lfs.url`), the last of each. Returns none for a file that is missing, large or no configuration. It
 * follows no include.
 */
export async function readConfigFile(
  repository: string,
  commitId: string,
  path: string
): Promise<ReadonlyMap<string, string>> {
  const entry = await findEntry(repository, commitId, path)
  if (entry?.type !== 'blob' || entry.mode === LINK) return new Map()
  const size = await blobSize(repository, entry.id)
  if (size === null || size > LARGEST) return new Map()
  const args = ['config', '--no-includes', '--null', '--blob', entry.id, '--list']
  const listed = await runGit(args, { repository }).catch((error: unknown) => {
    if (!(error instanceof GitFailure) || error instanceof GitTimeout) throw error
    return ''
  })
  const lines = String(listed).split('\0')
  return new Map(
    lines.flatMap(line => {
      const end = line.indexOf('\n')
      return end < 0 ? [] : [[line.slice(0, end), line.slice(end + 1)] as const]
    })
  )
}

// Finds which commit wrote each line of a file.
import { remember } from '../objects/cache.js'
import { isObjectId } from '../objects/reader.js'
import { askGit } from '../process/questions.js'

/** Successive lines of a file that one commit wrote. */
export interface BlameRange {
  readonly commitId: string
  /** The number of the first line, from 1. */
  readonly line: number
  readonly count: number
}

/** Seconds of processor time: each line of a file may come from another commit. */
const PROCESSOR = 10

/**
 * Returns the ranges of all lines, in their order. The commit must contain a file at the path. The cache keeps the result.
 * Throws GitLimit when it takes too long, and Unavailable when other questions take too long.
 */
export async function blame(repository: string, commitId: string, path: string): Promise<readonly BlameRange[]> {
  if (!isObjectId(commitId)) throw new TypeError('not a commit')
  const found = await remember(repository, `blame ${commitId} ${path}`, async () => {
    // Without the lines themselves, which the caller has.
    const args = ['blame', '--incremental', '--encoding=UTF-8', commitId, '--', path]
    const value = parse((await askGit(repository, args, PROCESSOR)).toString())
    return { value, size: value.length * 150 }
  })
  return found ?? []
}

/** Each range begins with `ID ORIGINAL-LINE LINE COUNT`. Facts about the commit follow, which always begin with a word. */
function parse(output: string): BlameRange[] {
  const found = output.matchAll(/^([0-9a-f]{40}) \d+ (\d+) (\d+)$/gm)
  const ranges = [...found].map(([, commitId = '', line, count]) => ({
    commitId,
    line: Number(line),
    count: Number(count)
  }))
  return ranges.sort((a, b) => a.line - b.line)
}

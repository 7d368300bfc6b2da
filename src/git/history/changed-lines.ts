// Decides whether a commit changed a line, so that a comment can be attached to that line.
import { makeObject } from '../objects/loose-writer.js'
import { readCommit } from '../objects/objects.js'
import { InvalidPath } from '../objects/path.js'
import { findEntry } from '../objects/tree.js'
import { GitFailure, GitLimit, runGit } from '../process/run.js'

/** The maximum size of a diff of one file that is searched, in bytes. Every line of a larger diff counts as unchanged. */
const MOST = 8 * 1024 * 1024
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm
const EMPTY_TREE = makeObject('tree', Buffer.alloc(0)).id

export interface Line {
  readonly path: string
  readonly line: number
  /**
   * `new`: a line that the commit added, with its number in the new file. `old`: a line that it removed, with its
   * number in the old file.
   */
  readonly side: 'new' | 'old'
}

async function isFile(repository: string, commit: string, path: string): Promise<boolean> {
  try {
    return (await findEntry(repository, commit, path))?.type === 'blob'
  } catch (error) {
    if (error instanceof InvalidPath) return false
    throw error
  }
}

/** Returns whether a commit changed a line, compared with its first parent. */
export async function isChangedLine(repository: string, id: string, { path, line, side }: Line): Promise<boolean> {
  const [parent] = (await readCommit(repository, id))?.parentIds ?? []
  const seen = side === 'new' ? id : parent
  if (seen === undefined || !(await isFile(repository, seen, path))) return false
  const format = ['-p', '--unified=0', '--no-renames', '--no-color', '--no-ext-diff', '--no-textconv', '--no-prefix']
  const args = ['diff-tree', ...format, '--end-of-options', parent ?? EMPTY_TREE, id, '--', path]
  try {
    const diff = (await runGit(args, { repository, maxOutput: MOST })).toString('latin1')
    // Without context, each hunk header names exactly the lines that changed. Each line of text begins with a sign, so
    // no line looks like a header.
    return [...diff.matchAll(HUNK)].some(([, old, oldCount = '1', young, youngCount = '1']) => {
      const [from, count] = side === 'new' ? [young, youngCount] : [old, oldCount]
      return line >= Number(from) && line < Number(from) + Number(count)
    })
  } catch (error) {
    if (error instanceof GitLimit || (error instanceof GitFailure && error.code === null)) return false
    throw error
  }
}

// Reads what a commit changed, or how two commits differ: the files with their texts, within limits.
import { remember } from '../objects/cache.js'
import { readCommit } from '../objects/objects.js'
import { isObjectId } from '../objects/reader.js'
import { oneAtATime } from '../process/questions.js'
import { failure, GitLimit, startGit } from '../process/run.js'
import { diffArgs, FORMATS, LargeAnswer } from './diff-process.js'
import { askPatches } from './diffs.js'
import { PatchReader, type PatchSet } from './patch-reader.js'

export type { Patch, PatchSet } from './patch-reader.js'

/** The limits of one response: files, bytes of all their paths, of the text of one file, and of all texts. */
export const PATCH_LIMITS = { files: 1000, paths: 1024 * 1024, text: 524_288, texts: 4 * 1024 * 1024 }

/** The limits in seconds for a comparison in a separate process: elapsed time and processor time. */
const TIME = 30
const PROCESSOR = 10
/** Approximate bytes that the strings of a patch take in addition to their text. */
const PER_PATCH = 550

/**
 * Returns how a commit differs from its first parent; for a root commit, all its files. Returns null when no commit has
 * this id. Renames are found as git finds them.
 */
export async function patchesOf(repository: string, id: string): Promise<PatchSet | null> {
  const commit = await readCommit(repository, id)
  return commit && (await compared(repository, [id, ...commit.parentIds.slice(0, 1)]))
}

/** Returns how the files of `to` differ from those of `from`; both are ids of commits that exist. */
export async function patchesBetween(repository: string, from: string, to: string): Promise<PatchSet> {
  if (!isObjectId(from) || !isObjectId(to)) throw new TypeError('not commits')
  return await compared(repository, [to, from])
}

async function compared(repository: string, commits: readonly string[]): Promise<PatchSet> {
  const found = await remember(repository, `patches ${commits.join(' ')}`, async () => {
    const value = await readPatches(repository, commits)
    const size = value.patches.reduce(
      (sum, { text, newPath }) => sum + (text.length + newPath.length) * 2 + PER_PATCH,
      0
    )
    return { value, size }
  })
  return found ?? { patches: [], isCut: false }
}

async function readPatches(repository: string, commits: readonly string[]): Promise<PatchSet> {
  try {
    const reader = new PatchReader(PATCH_LIMITS)
    const answer = await askPatches(repository, commits)
    return reader.end(reader.take(answer))
  } catch (error) {
    if (!(error instanceof LargeAnswer || error instanceof GitLimit)) throw error
  }
  try {
    return await readAlone(repository, commits, diffArgs(FORMATS.patches))
  } catch (error) {
    if (!(error instanceof GitLimit)) throw error
    // Finding renames and comparing texts takes too long. The list of the files only compares folders.
    return await readAlone(repository, commits, diffArgs(['--no-renames', '--raw', '-z']))
  }
}

/** Reads the same in a separate process, up to the limits. Throws GitLimit. */
const readAlone = (repository: string, commits: readonly string[], args: string[]): Promise<PatchSet> =>
  oneAtATime(repository, [repository, ...commits, ...args].join('\0'), () => readByItself(repository, commits, args))

async function readByItself(repository: string, commits: readonly string[], args: string[]): Promise<PatchSet> {
  const git = await startGit(args, { repository, timeout: TIME, processor: PROCESSOR })
  git.stdin.end(`${commits.join(' ')}\n`)
  const reader = new PatchReader(PATCH_LIMITS)
  let wants = true
  for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
    wants = reader.take(chunk)
    if (!wants) break
  }
  if (!wants) git.kill()
  const exit = await git.done
  if (exit.ended === 'timeout') throw new GitLimit(`git needs more than ${TIME} s to compare`)
  if (wants && (exit.code !== 0 || exit.ended)) throw failure(args, exit, git.stderr(), { processor: PROCESSOR })
  return reader.end(wants)
}

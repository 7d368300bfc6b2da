// Writes the whole history of a repository as one pack, for a file that leaves the appliance, and reads it from a file
// that anybody may have written.
import type { Readable } from 'node:stream'
import { failure, feed, type GitProcess, outputOf, runGit, startGit } from '../process/run.js'
import { readRefFiles, textRefName } from '../refs/files.js'
import { isMisleading, isRefName } from '../refs/refs.js'
import { KEPT } from '../write/merge.js'
import { measureObjects } from './repository.js'

export interface PackedRef {
  readonly ref: string
  readonly id: string
}

/** Returns true for the refs that belong in an export: branches, tags and the commits kept for merge requests. */
export const isPortable = (ref: string): boolean =>
  isRefName(ref) &&
  !isMisleading(ref) &&
  (ref.startsWith('refs/heads/') || ref.startsWith('refs/tags/') || ref === KEPT)

/** Returns the refs that belong in an export, sorted by name. */
export function portableRefs(repository: string): readonly PackedRef[] {
  return [...readRefFiles(repository)]
    .map(([name, id]) => ({ ref: textRefName(name), id }))
    .filter(({ ref }) => isPortable(ref))
    .sort((a, b) => (a.ref < b.ref ? -1 : 1))
}

export interface PackLimits {
  /** The limit for each git process, in seconds. */
  readonly timeout: number
  readonly signal: AbortSignal
}

/** The most commits that a pack leaves out. */
export const MOST_HAVES = 1000

/**
 * Returns a pack with all objects that the refs reach, and `without` does not reach: these commits must exist, and the reader of the
 * pack must have them. Fails when the repository is damaged.
 */
export async function writePack(
  repository: string,
  refs: readonly Pick<PackedRef, 'id'>[],
  { timeout, signal, without = [] }: PackLimits & { readonly without?: readonly string[] }
): Promise<Readable> {
  const args = [
    'pack-objects',
    '--revs',
    '--stdout',
    '--delta-base-offset',
    '-q',
    ...(without.length > 0 ? ['--thin'] : [])
  ]
  const git = await startGit(args, { repository, long: true, timeout, signal })
  void feed(Buffer.from([...refs.map(({ id }) => id), ...without.map(id => `^${id}`), ''].join('\n')), git)
  return outputOf(args, git)
}

/** Adds a pack to a repository that has the commits which it leaves out. Throws GitFailure for a pack that is cut off or damaged. */
export async function addPack(repository: string, pack: AsyncIterable<Buffer>): Promise<void> {
  const args = ['index-pack', '--stdin', '--fix-thin', STRICT]
  const git = await startGit(args, { repository, long: true })
  await ended(args, git, pack)
}

/** Feeds a pack to git, and waits for its end. */
async function ended(args: string[], git: GitProcess, pack: AsyncIterable<Buffer>): Promise<void> {
  git.stdout.resume()
  let cut: unknown
  await feed(pack, git, error => {
    cut = error
    git.kill()
  })
  const exit = await git.done
  if (cut !== undefined) throw cut
  if (exit.code !== 0 || exit.ended) throw failure(args, exit, git.stderr())
}

/** As strict as the configuration of the repositories is for a push. */
const STRICT = '--strict=badTimezone=ignore,missingSpaceBeforeDate=ignore,zeroPaddedFilemode=ignore'

/**
 * Fills an empty repository with a pack and its refs. Throws GitFailure for a pack that is cut off, forged, larger than
 * `maxBytes` or incomplete, and for refs that do not match it.
 */
export async function fillFromPack(
  repository: string,
  pack: Readable,
  refs: readonly PackedRef[],
  { maxBytes, timeout, signal }: PackLimits & { readonly maxBytes: number }
): Promise<{ readonly objects: number }> {
  const options = { repository, long: true, timeout, signal }
  const args = ['index-pack', '--stdin', STRICT, `--max-input-size=${Math.trunc(maxBytes)}`]
  await ended(args, await startGit(args, options), pack)
  const ids = refs.map(({ id }) => `${id}\n`).join('')
  await runGit(['rev-list', '--objects', '--quiet', '--stdin'], { ...options, input: ids })
  const commands = refs.map(({ ref, id }) => `create ${ref}\0${id}\0`).join('')
  await runGit(['update-ref', '--stdin', '-z'], { ...options, input: commands })
  await runGit(['pack-refs', '--all'], options)
  return measureObjects(repository)
}

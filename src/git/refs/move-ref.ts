// Moves one ref without a git process. With 200 busy repositories, `git update-ref` had to start for most commits, which
// took half of their processor time in git.
//
// The rules are those of git for refs in files. A program that changes a ref creates the file REF.lock first, compares the old
// value, and then renames a complete file to the name of the ref. The new value is on the disk before the lock is taken,
// and everything under the lock happens in one turn of the event loop: a lock stays behind only when the machine or the
// process dies within these 100 us. Unlike a lock of git, it is a symbolic link to the name of the process that holds it, so that
// others can remove it as soon as that process is gone (repository/stale-locks.ts).
import { randomBytes } from 'node:crypto'
import { fsync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isCommitKnown, readCommit } from '../objects/objects.js'
import { isStoredNow } from '../objects/odb/stored.js'
import { objectInfo } from '../objects/reader.js'
import { aboutFile } from '../objects/stat.js'
import { files } from '../objects/sync-files.js'
import { fileRefName } from './files.js'
import { lockOwner } from './lock-owner.js'
import { packedRefs, valueInFiles } from './lookup.js'

interface Move {
  readonly ref: string
  readonly old: string
  readonly new: string
}

const ZERO = '0'.repeat(40)
/** Always waits for the disk. */
const sync = promisify(fsync)

/**
 * Moves a ref from its old value to a new one; an old value of zeros means that it does not exist yet. The new object
 * must already be durable. Returns false when nothing has changed and git must decide: when the ref has another value
 * or is locked, when the name conflicts with another one, when a folder has to be created, and for deletions.
 */
export async function moveRef(repository: string, { ref, old, new: next }: Move): Promise<boolean> {
  if (next === ZERO || !(await mayPointAt(repository, ref, next))) return false
  // The name of a lock, so that it is removed with the other locks of a process that died.
  const draft = join(repository, `${randomBytes(8).toString('hex')}.lock`)
  try {
    await writeDraft(draft, `${next}\n`)
    if (place(repository, draft, { ref, old })) return true
  } catch (error) {
    if (!isOfFiles(error)) throw error
  }
  await unlink(draft).catch(() => {})
  return false
}

/**
 * Git also refuses to let a branch point at anything but a commit. The type never changes, so it may come from a cache, but
 * the object may have been pruned since.
 */
const mayPointAt = async (repository: string, ref: string, id: string) =>
  (await isStoredNow(repository, id)) &&
  (isCommitKnown(repository, id) ||
    (await (ref.startsWith('refs/heads/') ? readCommit(repository, id) : objectInfo(repository, id))) !== null)

async function writeDraft(path: string, text: string): Promise<void> {
  const content = Buffer.from(text)
  const file = await files().open(path, 'wx', 0o666)
  try {
    for (let at = 0; at < content.length; ) at += await files().write(file, content, at)
    await sync(file)
  } finally {
    await files().close(file)
  }
}

/** Must stay synchronous: see above. */
function place(repository: string, draft: string, { ref, old }: Pick<Move, 'ref' | 'old'>): boolean {
  const path = join(repository, ref)
  const lock = `${path}.lock`
  symlinkSync(lockOwner(), lock)
  try {
    if (old === ZERO ? !isFree(repository, ref) : valueInFiles(repository, ref) !== old) return false
    renameSync(draft, path)
    return true
  } finally {
    release(lock)
  }
}

/** The result stands even when the lock stays: then it blocks the next change, which git explains. */
function release(lock: string): void {
  try {
    unlinkSync(lock)
  } catch (error) {
    if (!isOfFiles(error)) throw error
  }
}

/**
 * Returns whether neither a ref nor a folder has the name, and no packed ref is above or below it. A ref in a file above
 * it would have made the lock impossible.
 */
function isFree(repository: string, ref: string): boolean {
  const packed = packedRefs(repository)
  if (!packed || aboutFile(join(repository, ref))) return false
  const name = fileRefName(ref)
  for (let end = name.length; end !== -1; end = name.lastIndexOf('/', end - 1)) {
    if (packed.has(name.slice(0, end))) return false
  }
  for (const other of packed.keys()) if (other.startsWith(`${name}/`)) return false
  return true
}

/** Errors of node:fs have a code. */
const isOfFiles = (error: unknown) => error instanceof Error && 'code' in error

// Finds and removes lock files whose process is gone: after a power cut or kill -9, git leaves them behind, and then
// permanently refuses to change the ref, or any ref, until somebody removes them.
import { existsSync } from 'node:fs'
import { link, lstat, readdir, readFile, readlink, rename, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { processStatus, TICKS } from '../../lib/process-status.js'
import { ownerLives } from '../refs/lock-owner.js'

/** Folders of a repository that contain locks other than those of refs. */
const FOLDERS = ['.', 'objects/info', 'objects/info/commit-graphs', 'objects/pack']
/** `packed-refs.new` is the draft of a new packed-refs. It blocks the next draft like a lock. */
const LOCK = /\.lock$|^packed-refs\.new$/
/** Processes of these commands never hold a lock of a repository. */
const READERS = new Set([
  'cat-file',
  'diff-tree',
  'upload-pack',
  'pack-objects',
  'rev-list',
  'for-each-ref',
  'merge-base'
])
/** The complete new value of a ref, which replaces the old one (refs/move-ref.ts). It blocks nothing. */
const DRAFT = /^[0-9a-f]{16}\.lock$/
/**
 * Milliseconds. Drafts do not say who writes them, nor do the empty locks with which earlier versions of this program lock refs, for
 * less than a millisecond. Such a process runs all the time, so only the age shows that none of them holds the lock.
 */
export const LEAST_AGE_MS = 10_000
/** Milliseconds. The process of git that holds a lock is visible, unless somebody started it in another container. */
const LEAST_AGE_OF_GIT_MS = 1000
/** Milliseconds. The start time of a process is only known to the second. */
const SLACK = 2000

interface Lock {
  readonly path: string
  readonly inode: number
  readonly madeAt: number
  readonly leastAge: number
  /** The name of the process that holds it; undefined for locks of git and for drafts. */
  readonly owner: string | undefined
}

/** The times, in milliseconds, before which a lock must have been made to count as stale. */
export interface Horizon {
  readonly refs: number
  /** For locks in the folder of the objects, which block no ref. */
  readonly objects: number
}

/** A function is called after the locks were listed, so a machine that makes a lock later does not have to be known yet. */
export type HorizonOf = Horizon | (() => Promise<Horizon>)

export const NO_HORIZON: Horizon = { refs: Number.POSITIVE_INFINITY, objects: Number.POSITIVE_INFINITY }

/**
 * Returns the locks of a repository whose process is gone, as far as that is certain: the lock names it, or the lock was created
 * before the horizon, is not too young, and is older than every git process of this machine that may write to the repository. It
 * only sees the processes of this machine.
 */
export async function staleLocks(repository: string, horizon: HorizonOf = NO_HORIZON): Promise<string[]> {
  return (await findStale(await findLocks(repository), repository, horizon)).map(({ path }) => path)
}

/** Removes these locks and returns their paths. */
export async function removeStaleLocks(repository: string, horizon: HorizonOf = NO_HORIZON): Promise<string[]> {
  const removed: string[] = []
  for (const lock of await findStale(await findLocks(repository), repository, horizon))
    if (await remove(lock)) removed.push(lock.path)
  return removed
}

/** Whether a lock of a ref may be of a process that is gone, but it is too young or too near the horizon for certainty. */
export async function mayBeStale(repository: string): Promise<boolean> {
  const ofRefs = (await findLocks(repository))
    .filter(({ path }) => !path.startsWith(join(repository, 'objects/')) && !DRAFT.test(basename(path)))
    .map(lock => ({ ...lock, leastAge: 0 }))
  return (await findStale(ofRefs, repository, NO_HORIZON)).length > 0
}

async function findStale(all: readonly Lock[], repository: string, horizon: HorizonOf): Promise<Lock[]> {
  const now = Date.now()
  if (all.length === 0) return []
  const { refs, objects } = typeof horizon === 'function' ? await horizon() : horizon
  const ofObjects = join(repository, 'objects/')
  const [stale, others]: [Lock[], Lock[]] = [[], []]
  for (const lock of all) {
    const lives = lock.owner === undefined ? undefined : ownerLives(lock.owner)
    if (lives === false) stale.push(lock)
    const { path, madeAt, leastAge } = lock
    const isOld = madeAt <= now - leastAge && madeAt < (path.startsWith(ofObjects) ? objects : refs)
    if (lives === undefined && isOld) others.push(lock)
  }
  if (others.length === 0) return stale
  // The locks were listed first: the owner of a lock that is held is among these processes, or has just released it.
  const eldest = Math.min(...(await writersOf(repository)))
  return [...stale, ...others.filter(({ madeAt }) => madeAt + SLACK < eldest)]
}

async function findLocks(repository: string): Promise<Lock[]> {
  const paths: string[] = []
  // An empty project may have no repository yet.
  if (!existsSync(repository)) return []
  for (const folder of FOLDERS) {
    const names = await readdir(join(repository, folder)).catch(() => [])
    paths.push(...names.filter(name => LOCK.test(name)).map(name => join(repository, folder, name)))
  }
  await collect(join(repository, 'refs'), paths)
  const found = await Promise.all(paths.map(path => lockAt(path, path.startsWith(join(repository, 'refs/')))))
  return found.flatMap(lock => lock ?? [])
}

/** Returns undefined when there is no lock any more. */
async function lockAt(path: string, isOfRef: boolean): Promise<Lock | undefined> {
  const about = await lstat(path).catch(() => null)
  if (!about?.isFile() && !about?.isSymbolicLink()) return undefined
  const owner = about.isSymbolicLink() ? await readlink(path).catch(() => undefined) : undefined
  const isOfGit = isOfRef ? about.size > 0 : !DRAFT.test(basename(path))
  return {
    path,
    inode: about.ino,
    madeAt: about.mtimeMs,
    leastAge: isOfGit ? LEAST_AGE_OF_GIT_MS : LEAST_AGE_MS,
    owner
  }
}

async function collect(folder: string, paths: string[]): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await collect(path, paths)
    else if (LOCK.test(entry.name)) paths.push(path)
  }
}

/** Returns the start times, in milliseconds, of the processes of this machine that may write to a repository. */
async function writersOf(repository: string): Promise<number[]> {
  const stat = await readFile('/proc/stat', 'latin1')
  const boot = Number(/^btime (\d+)$/m.exec(stat)?.[1] ?? 0) * 1000
  const starts: number[] = []
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue
    const [, command = '', ...rest] = (await textOf(`/proc/${pid}/cmdline`)).split('\0')
    if (READERS.has(command)) continue
    const environment = (await textOf(`/proc/${pid}/environ`)).split('\0')
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '')
    const works = environment.includes(`GIT_DIR=${repository}`) || rest.includes(repository) || folder === repository
    if (!works) continue
    const status = processStatus(Number(pid))
    if (status) starts.push(boot + (status.startedAt * 1000) / TICKS)
  }
  return starts
}

const textOf = (path: string) => readFile(path, 'latin1').catch(() => '')

/** Removes a lock, but never a lock that another process created at the same path in the meantime. */
async function remove({ path, inode }: Lock): Promise<boolean> {
  const aside = `${path}.${process.pid}.lock`
  try {
    await rename(path, aside)
  } catch {
    return false
  }
  const isSame = (await lstat(aside)).ino === inode
  if (!isSame) await link(aside, path).catch(() => undefined)
  await unlink(aside)
  return isSame
}

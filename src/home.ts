// The folders and the sockets of a home, and the rules that tell a home from any other folder.
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { accountOf, config } from './config.js'
import { Misconfigured, NoHome } from './errors.js'
import { becomeUser } from './owner.js'

/** The folders of every home. */
export const HOME_FOLDERS = [
  'repositories',
  'artifacts',
  'traces',
  'uploads',
  'lfs',
  'records',
  'tmp',
  'backups',
  'run'
] as const

/** A home has this file from its first start until it is removed. A restore writes it last. */
const MARK = 'secrets.json'

/** A restore fills this folder inside the new home. While it exists without MARK, the restore has not ended. */
export const RESTORE_DRAFT = '.restoring-'

/** The private host keys, by which SSH clients recognize the server, the preferred one first. */
export const HOST_KEY_FILES = ['ssh_host_ed25519_key', 'ssh_host_ecdsa_key'] as const
export const hostKeyPaths = () => HOST_KEY_FILES.map(name => join(config().home, name))

/** A restore that failed leaves the log of its database here. */
export const RESTORE_LOG = 'restore-failed.log'

/** What a folder that becomes a home may contain: the files of a killed start, files that a sysadmin prepared, and mounts. */
const MAY_LIE: ReadonlySet<string> = new Set([...HOME_FOLDERS, 'mail', 'lost+found', RESTORE_LOG, ...HOST_KEY_FILES])
/** The configuration with the copies that editors make, and drafts of killed starts. */
const MAY_MATCH = /^(\.?config\.yaml.*|secrets\.json\.\d+|mysql\.new-\d+)$/
/** The files of a user account, whose folder may become a home of that user. */
const OF_ACCOUNT = /^\.(bash\w*|profile|cache|config|local|npm|ssh|gitconfig|viminfo|lesshst)$/

/** Whether a file in a folder that becomes a home is for the appliance. */
export const isPrepared = (name: string): boolean => MAY_LIE.has(name) || MAY_MATCH.test(name)

/**
 * - new: there is nothing yet; the first start makes a home
 * - home: an appliance has its files here
 * - restoring: a restore into this folder runs, or was killed
 * - locked: a home without its secrets, so nobody can open its database
 * - foreign: the folder has files of others
 */
export type HomeState = 'new' | 'home' | 'restoring' | 'locked' | 'foreign'

/** Returns what a folder is, with the first name in it that does not belong to a home. Throws Misconfigured if it is unreadable. */
export function stateOfHome(home = config().home): { state: HomeState; stranger?: string } {
  const names = namesIn(home)
  if (names.includes(MARK)) return { state: 'home' }
  if (names.some(name => name.startsWith(RESTORE_DRAFT))) return { state: 'restoring' }
  const stranger = names.find(name => name !== 'mysql' && !isPrepared(name) && !OF_ACCOUNT.test(name))
  if (stranger !== undefined) return { state: 'foreign', stranger }
  // A start that creates the home at this moment has written the mark by now.
  if (names.includes('mysql')) return { state: existsSync(join(home, MARK)) ? 'home' : 'locked' }
  return { state: 'new' }
}

/** The names in a folder; none when it does not exist. Throws Misconfigured when this user cannot read it. */
export function namesIn(home: string): string[] {
  try {
    return readdirSync(home)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') throw new Misconfigured(`${home} is not a folder: choose another one`)
    throw new Misconfigured(`${home} cannot be read (${code}): run gitstead as the owner of the home`)
  }
}

/** Returns why no appliance can use a folder, with the remedy; null when one can. */
export function problemOfHome(home = config().home): string | null {
  const { state, stranger } = stateOfHome(home)
  if (state === 'foreign')
    return `${home} has other files (${stranger}): choose an empty folder for the home, with --home`
  if (state === 'restoring')
    return `a restore into ${home} has not ended: wait for it, or run gitstead restore --into ${home} again`
  if (state === 'locked')
    return `${join(home, MARK)} is missing, and nobody can open the database without it: put it back from a backup, or if it is lost for good, run gitstead db accept-key`
  return null
}

/** Throws NoHome when there is no home yet, and Misconfigured when the folder cannot be one. It creates nothing. */
export function requireHome(): void {
  refuseOthers()
  if (stateOfHome().state !== 'home') throw new NoHome(config().home)
}

/**
 * Throws NoHome when there is no home, and Misconfigured when the folder has other content: for commands that need no
 * database, such as those that stop an appliance whose home is damaged. It creates nothing.
 */
export function requireFolder(): void {
  if (config().database.url !== null) return
  const { state } = stateOfHome()
  if (state === 'new') throw new NoHome(config().home)
  // Nothing can run in these folders, so nothing in them can be stopped.
  if (state === 'foreign' || state === 'restoring') refuseOthers()
}

/**
 * Throws Misconfigured when the folder of the home has other content, or belongs to another user, as whom root continues. It
 * creates nothing.
 */
export function refuseOthers(): void {
  const problem = problemOfHome() ?? problemOfOwner()
  if (problem !== null) throw new Misconfigured(problem)
}

/**
 * Only root gets this far in the home of another user, and works there as that user. Files that root made would stop the
 * appliance of that user: it could not even write its log.
 */
export function problemOfOwner({ home } = config()): string | null {
  const owner = ownerOfHome(home)
  if (owner === undefined || owner === process.getuid?.() || becomeUser(owner, home)) return null
  return `${home} belongs to user ${accountOf(owner) ?? owner}: run gitstead as that user`
}

/** Returns the user who owns a home, or the folder that root could make one; undefined when there is none. */
export function ownerOfHome(home = config().home): number | undefined {
  const mark = statSync(join(home, MARK), { throwIfNoEntry: false })
  if (mark !== undefined || process.getuid?.() !== 0) return mark?.uid
  const folder = statSync(home, { throwIfNoEntry: false })
  return folder?.isDirectory() ? folder.uid : undefined
}

/** Creates the home's folders. Throws Misconfigured when this user may not, or when the folder has files of others. */
export function prepareHome(): void {
  const { home } = config()
  refuseOthers()
  try {
    makeFolders(home)
    for (const folder of HOME_FOLDERS) makeFolders(join(home, folder))
    for (const folder of ['.', ...HOME_FOLDERS]) accessSync(join(home, folder), constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code, path = home } = error as NodeJS.ErrnoException
    // A sysadmin may mount a disk at a folder of the home.
    const inside = HOME_FOLDERS.find(name => path === join(home, name))
    if (inside !== undefined && existsSync(path) && code !== 'EEXIST')
      throw new Misconfigured(`${about(inside, path)}: ${code}: is it mounted? If it is, make this user its owner`)
    throw new Misconfigured(
      `${path}: ${code}: make this user the owner of the home, or choose another home with --home`
    )
  }
}

function about(folder: (typeof HOME_FOLDERS)[number], path: string): string {
  const { storages } = config().repositories
  return folder === 'repositories' ? `the folder ${path} of the storages ${storages.join(', ')}` : `the folder ${path}`
}

/**
 * Makes a folder and its parents, closed to other users. Returns the topmost folder that it made, if any. The recursive
 * mkdir of Node.js never returns for a folder below /proc.
 */
export function makeFolders(path: string): string | undefined {
  const missing: string[] = []
  for (let folder = resolve(path); !existsSync(folder); folder = dirname(folder)) missing.unshift(folder)
  // A file in its place causes the same error as for one folder.
  if (missing.length === 0 && !statSync(path).isDirectory()) mkdirSync(path)
  for (const folder of missing) makeFolder(folder)
  return missing[0]
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may make the same folder.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
  }
}

/** The kernel allows at most 107 bytes for the path of a socket; names have at most 27. */
const SOCKET_FOLDER_BYTES = 79

/**
 * Returns the path of a socket in the home. The kernel allows at most 107 bytes. When the home has a longer path, its
 * sockets are in a private folder inside the system's temporary folder: all of them, as workers are found by listing it.
 */
export function socketPath(name: string): string {
  const inside = join(config().home, 'run')
  if (Buffer.byteLength(inside) <= SOCKET_FOLDER_BYTES) return join(inside, name)
  const folder = outsideFolder(tmpdir())
  makePrivate(folder)
  return join(folder, name)
}

/** Returns the path of the folder for this home inside a folder that all users share. */
export function outsideFolder(parent: string): string {
  const key = createHash('sha256').update(config().home).digest('hex').slice(0, 16)
  return join(parent, `gitstead-${process.getuid?.() ?? 0}-${key}`)
}

/** Makes such a folder. Throws Misconfigured when another user has made it before. */
export function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  requireOwn(folder)
}

/**
 * Throws Misconfigured unless the folder is private to this user: anybody may have created a folder with this name in
 * the shared folder before.
 */
function requireOwn(folder: string): void {
  const found = lstatSync(folder)
  if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0) return
  throw new Misconfigured(`${folder} is not private to this user: remove it, or choose a --home with a shorter path`)
}

// Root works in the home of another user as that user: files of root in it would stop the appliance of that user.
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync
} from 'node:fs'
import { basename, join } from 'node:path'
import { root } from './config.js'
import { Misconfigured } from './errors.js'

interface Account {
  readonly uid: number
  readonly gid: number
  readonly name: string | undefined
  readonly home: string
}

/** Of the file system, so it stays with root. */
const LOST_AND_FOUND = 'lost+found'

const isRoot = () => process.getuid?.() === 0

/**
 * Makes this process one of the user, for good. Returns false when this process is not root, or when that user can neither read
 * the program nor reach `home`.
 */
export function becomeUser(uid: number, home: string): boolean {
  if (!isRoot()) return false
  const account = accounts().find(each => each.uid === uid) ?? { uid, gid: uid, name: undefined, home: '/' }
  if (!canRun(account, home)) return false
  process.setgroups?.([account.gid, ...groupsOf(account)])
  process.setgid?.(account.gid)
  process.setuid?.(uid)
  Object.assign(process.env, { HOME: account.home, ...(account.name && { USER: account.name, LOGNAME: account.name }) })
  return true
}

/**
 * Gives a folder that is about to become a home to a user, with what a sysadmin has prepared for the appliance in it: the entries
 * that `isPrepared` accepts. Throws Misconfigured when there is no such user, when the user of this process may not do that, and
 * when the folder or something in it belongs to another user or account.
 */
export function giveHome(home: string, name: string, isPrepared: (entry: string) => boolean): void {
  const account = findAccount(name)
  if (!account) throw new Misconfigured(`--user: there is no user ${name} on this machine`)
  if (account.uid === process.getuid?.()) return
  if (!isRoot()) throw new Misconfigured('--user: only root can run the appliance as another user')
  const folder = openSafely(home, constants.O_DIRECTORY)
  if (folder === undefined) throw new Misconfigured(`--user: ${home} is a symbolic link: name the folder itself`)
  try {
    // By this path, the names stay those of the folder that was opened, even if somebody replaces it.
    const inside = `/proc/self/fd/${folder}`
    const names = readdirSync(inside)
    refuseForeign(home, fstatSync(folder).uid, account)
    for (const entry of names) refuseEntry(join(inside, entry), join(home, entry), account, isPrepared(entry))
    for (const entry of names.filter(name => name !== LOST_AND_FOUND && isPrepared(name)))
      giveFile(openSafely(join(inside, entry)), account)
    fchownSync(folder, account.uid, account.gid)
  } finally {
    closeSync(folder)
  }
}

/** Opens a file or folder to change its owner; undefined for a symbolic link, a socket and what does not exist any more. */
function openSafely(path: string, flags = 0): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | flags)
  } catch {
    return undefined
  }
}

function refuseForeign(home: string, owner: number, account: Account): void {
  if (owner === account.uid) return
  if (owner !== 0) throw notTheirs(home, account)
  const real = realpathSync(home)
  const other = accounts().find(each => each.uid !== account.uid && realOf(each.home) === real)
  if (other) throw new Misconfigured(`--user: ${home} is the folder of the account ${other.name}: choose another one`)
}

function refuseEntry(path: string, shown: string, account: Account, isPrepared: boolean): void {
  const { uid } = lstatSync(path)
  if (uid === account.uid || basename(path) === LOST_AND_FOUND) return
  if (uid !== 0 || !isPrepared) throw notTheirs(shown, account)
}

const notTheirs = (path: string, { name }: Account) =>
  new Misconfigured(`--user: ${path} does not belong to ${name}: choose an empty folder for the home, with --home`)

/** Another name of a file may be in a folder of others, so such a file stays as it is. */
function giveFile(file: number | undefined, { uid, gid }: Account): void {
  if (file === undefined) return
  try {
    const found = fstatSync(file)
    if (found.uid === 0 && (found.nlink === 1 || found.isDirectory())) fchownSync(file, uid, gid)
  } finally {
    closeSync(file)
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** Returns the id of a user; undefined when there is no such user. */
export const userId = (name: string): number | undefined => findAccount(name)?.uid

const findAccount = (name: string) => accounts().find(account => account.name === name)

const accounts = (): Account[] =>
  readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .filter(line => line.includes(':'))
    .map(line => line.split(':'))
    .map(fields => ({ uid: Number(fields[2]), gid: Number(fields[3]), name: fields[0], home: fields[5] || '/' }))

/** The groups that list the user, such as that of a container engine. */
function groupsOf({ name }: Account): number[] {
  const groups = readFileSync('/etc/group', 'utf8').split('\n')
  const members = groups
    .map(line => line.split(':'))
    .filter(([, , , names = '']) => names.split(',').includes(name ?? ''))
  return name === undefined ? [] : members.map(([, , gid]) => Number(gid))
}

/** The program may be in a folder that only root can read, such as /root. */
function canRun({ uid, gid }: Account, home: string): boolean {
  const as = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups', '--']
  const readable = [join(root, 'dist/src/cli/main.js'), join(root, 'config/default.yaml'), process.execPath]
  const tests = [...readable.map(path => ['-r', path]), ...(isFolder(home) ? [['-x', home]] : [])]
  const words = tests.flatMap(([flag = '', path = '']) => ['-a', flag, path]).slice(1)
  return spawnSync('setpriv', [...as, 'test', ...words], { stdio: 'ignore' }).status === 0
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

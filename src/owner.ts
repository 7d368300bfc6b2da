// Root works in the home of another user as that user: files of root in it would stop the appliance of that user.
import { spawnSync } from 'node:child_process'
import { chownSync, lchownSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './config.js'
import { Misconfigured } from './errors.js'

interface Account {
  readonly uid: number
  readonly gid: number
  readonly name: string | undefined
  readonly home: string
}

const isRoot = () => process.getuid?.() === 0

/**
 * Makes this process one of the user, for good. Returns false when this process is not root, or when that user can neither read
 * the program nor reach `home`.
 */
export function becomeUser(uid: number, home: string): boolean {
  if (!isRoot()) return false
  const account = findAccount(fields => fields[2] === String(uid)) ?? { uid, gid: uid, name: undefined, home: '/' }
  if (!canRun(account, home)) return false
  process.setgroups?.([account.gid, ...groupsOf(account)])
  process.setgid?.(account.gid)
  process.setuid?.(uid)
  Object.assign(process.env, { HOME: account.home, ...(account.name && { USER: account.name, LOGNAME: account.name }) })
  return true
}

/**
 * Gives a folder that is about to become a home to a user, with what a sysadmin has prepared in it. Throws Misconfigured when there
 * is no such user, and when the user of this process may not do that.
 */
export function giveHome(home: string, name: string): void {
  const account = findAccount(fields => fields[0] === name)
  if (!account) throw new Misconfigured(`--user: there is no user ${name} on this machine`)
  if (account.uid === process.getuid?.()) return
  if (!isRoot()) throw new Misconfigured('--user: only root can run the appliance as another user')
  chownSync(home, account.uid, account.gid)
  for (const entry of readdirSync(home)) lchownSync(join(home, entry), account.uid, account.gid)
}

/** Returns the id of a user; undefined when there is no such user. */
export const userId = (name: string): number | undefined => findAccount(fields => fields[0] === name)?.uid

function findAccount(fits: (fields: readonly string[]) => boolean): Account | undefined {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const fields = lines.map(line => line.split(':')).find(fits)
  if (!fields) return undefined
  return { uid: Number(fields[2]), gid: Number(fields[3]), name: fields[0], home: fields[5] || '/' }
}

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

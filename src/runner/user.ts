// The user that builds run as. When this process is root, builds run as an unprivileged user even outside of the
// sandbox's namespace.
import { readFile } from 'node:fs/promises'
import { config } from '../config.js'
import { Misconfigured } from '../errors.js'

export interface BuildUser {
  readonly uid: number
  readonly gid: number
}

/**
 * Returns the user that builds run as, or undefined when they run as the user of this process. Throws Misconfigured
 * when this process is root and the configured user is unknown or root.
 */
export async function buildUser(): Promise<BuildUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const name = config().runner.user
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':'))
  const account = accounts.find(fields => fields[0] === name)
  const uid = Number(account?.[2] || Number.NaN)
  const gid = Number(account?.[3] || Number.NaN)
  if (!Number.isInteger(uid) || !Number.isInteger(gid)) {
    throw new Misconfigured(`runner.user: there is no user ${name} on this machine; name one that exists`)
  }
  if (uid === 0 || gid === 0) {
    throw new Misconfigured(`runner.user: builds must not run as ${name}, which is root; name an ordinary user`)
  }
  return { uid, gid }
}

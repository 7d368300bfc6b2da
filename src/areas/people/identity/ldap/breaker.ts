// A directory that is away is asked again only after a short rest, so that people learn it at once instead of after a timeout.
import { Unavailable } from '../../../../errors.js'
import { type Directory, labelOf } from '../../../../ldap/directory.js'
import { DirectoryFailure } from '../../../../ldap/failure.js'
import { log } from '../../../../log.js'

/** Milliseconds. */
const REST_MS = 3000

const resting = new Map<string, number>()

/** The directory cannot be asked now. People see the message; the log has the reason. */
export class DirectoryAway extends Unavailable {
  constructor(directory: Directory) {
    const name = labelOf(directory)
    super(`The directory ${name} does not answer: try again in a minute. Access tokens and SSH keys still work`, 30)
  }
}

/** Runs work that asks a directory. Throws DirectoryAway when the directory is away or refuses the service account. */
export async function whileThere<T>(directory: Directory, work: () => Promise<T>): Promise<T> {
  if (Date.now() < (resting.get(directory.name) ?? 0)) throw new DirectoryAway(directory)
  try {
    const found = await work()
    resting.delete(directory.name)
    return found
  } catch (error) {
    if (!(error instanceof DirectoryFailure)) throw error
    const { step, message, remedy, isAway } = error
    // Otherwise one strange entry would keep everybody else out.
    if (isAway) resting.set(directory.name, Date.now() + REST_MS)
    log().warn({ directory: directory.name, step, remedy }, `a directory has failed: ${message}`)
    throw new DirectoryAway(directory)
  }
}

import { withDirectory } from '../../../../ldap/connection.js'
import type { Directory } from '../../../../ldap/directory.js'
import { DirectoryFailure } from '../../../../ldap/failure.js'
import { findAnyone } from '../../../../ldap/people.js'
import { directories } from './directories.js'

interface Fault {
  readonly found: string
  readonly remedy: string
}

/** Asks each directory for one person. Returns what is wrong with them. */
export async function tryDirectories(): Promise<Fault[]> {
  const results = await Promise.all(directories().map(tryOne))
  return results.filter(fault => fault !== null)
}

async function tryOne(directory: Directory): Promise<Fault | null> {
  const { name, base, filter, verify, urls } = directory
  try {
    const [anyone] = await withDirectory(directory, connection => findAnyone(connection, directory))
    if (!anyone) {
      const remedy = 'correct base and filter, or let bind_dn read the entries'
      return { found: `${name}: there is no entry below ${base} with ${filter}`, remedy }
    }
  } catch (error) {
    if (!(error instanceof DirectoryFailure)) throw error
    return { found: error.message, remedy: error.remedy }
  }
  if (verify) return null
  const found = `${name}: the certificates of ${urls.join(', ')} are not checked, so that others could read passwords`
  return { found, remedy: 'set verify to true, and ca to the file of the issuer' }
}

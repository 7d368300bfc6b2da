// The version of the program, as in its package.json, and the commit that it was built from.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './config.js'

export const version: string = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string })
  .version

/** The beginning of the id of a commit. Not specified: `unknown` for a program that was not built from a checkout. */
export const revision: string = readRevision()

/** Both, as people read them. */
export const fullVersion: string = revision === 'unknown' ? version : `${version} (${revision})`

function readRevision(): string {
  try {
    return readFileSync(join(root, 'dist/src/revision'), 'utf8')
  } catch {
    return 'unknown'
  }
}

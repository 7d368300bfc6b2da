// Limits where a backup and its secrets may be written: never into the working files of the appliance.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { config } from '../../../config.js'
import { BadParameters, Conflict } from '../../../errors.js'
import { HOME_FOLDERS } from '../../../home.js'

/** The appliance removes unknown files in these folders, or treats them as its own. */
const WORKING = [...HOME_FOLDERS.filter(folder => folder !== 'backups'), 'mysql', 'mail', 'cache']

interface Places {
  readonly to?: string
  readonly secretsTo?: string
}

/**
 * Throws BadParameters when a backup or its secrets would be written into a working folder of the appliance, and Conflict when
 * the secrets would replace a file that `writeSecretsFile` did not write, such as the home's own secrets.json.
 */
export function refuseWrongPlaces({ to, secretsTo }: Places): void {
  if (to !== undefined) refuseWorking(to)
  if (secretsTo === undefined) return
  refuseWorking(secretsTo)
  if (existsSync(secretsTo) && !isSecretsFile(secretsTo)) {
    throw new Conflict(`${secretsTo} is not a file that --secrets-to wrote: choose another one`)
  }
}

function refuseWorking(path: string): void {
  const place = `${realPath(path)}/`
  const folder = WORKING.find(each => place.startsWith(`${realPath(join(config().home, each))}/`))
  if (folder === undefined) return
  const text = `${path} is in ${join(config().home, folder)}, where the appliance has its own files: choose another place`
  throw new BadParameters(text, text)
}

/** Returns the path without symbolic links; its last parts need not exist yet. */
function realPath(path: string): string {
  const full = resolve(path)
  if (existsSync(full) || dirname(full) === full) return realpathSync(full)
  return join(realPath(dirname(full)), basename(full))
}

function isSecretsFile(path: string): boolean {
  try {
    // A device such as /dev/full has no end.
    if (!statSync(path).isFile()) return false
    return (
      typeof (JSON.parse(readFileSync(path, 'utf8')) as { 'secrets.json'?: unknown } | null)?.['secrets.json'] ===
      'string'
    )
  } catch {
    return false
  }
}

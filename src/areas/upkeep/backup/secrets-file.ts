// Keeps secrets out of the backup: a person who finds a backup must not also find the key to its encrypted columns.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { config } from '../../../config.js'
import { BadParameters, Failure } from '../../../errors.js'

/** The texts of the two files of a home that contain secrets. */
export interface SecretFiles {
  readonly 'secrets.json': string
  /** It may contain the password of a database. */
  readonly 'config.yaml': string | null
}

export const SECRETS_UNIT = 'secrets'

/** Returns a fingerprint of the key. It reveals nothing about the key. */
export function fingerprintOf(secrets: string): string {
  const { encryption_key } = JSON.parse(secrets) as { encryption_key: string }
  return createHash('sha256').update(`gitstead backup ${encryption_key}`).digest('hex').slice(0, 16)
}

/** Reads the secrets of a home. */
export function readHomeSecrets(home = config().home): SecretFiles {
  const path = join(home, 'config.yaml')
  return {
    'secrets.json': readFileSync(join(home, 'secrets.json'), 'utf8'),
    'config.yaml': existsSync(path) ? readFileSync(path, 'utf8') : null
  }
}

/** Writes secrets to a file that only its owner can read. It replaces an earlier file. Throws Failure. */
export function writeSecretsFile(path: string, files: SecretFiles): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(draft, `${JSON.stringify(files, null, 1)}\n`, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new Failure(`the secrets cannot be written to ${path} (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** Reads a file of `writeSecretsFile`, or a plain secrets.json. Throws BadParameters. */
export function readSecretsFile(path: string): SecretFiles {
  const wrong = (why: string) => {
    const text = `the secrets in ${path} ${why}`
    return new BadParameters(text, text)
  }
  let text: string
  // A device such as /dev/zero has no end.
  if (statSync(path, { throwIfNoEntry: false })?.isCharacterDevice()) throw wrong('are not in a file')
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw wrong(`cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  let found: Partial<SecretFiles> & { encryption_key?: unknown }
  try {
    found = JSON.parse(text) as typeof found
  } catch {
    throw wrong('are not JSON')
  }
  const files =
    typeof found.encryption_key === 'string'
      ? { 'secrets.json': text, 'config.yaml': null }
      : { 'secrets.json': found['secrets.json'] ?? '', 'config.yaml': found['config.yaml'] ?? null }
  try {
    fingerprintOf(files['secrets.json'])
  } catch {
    throw wrong('contain no encryption key')
  }
  return files
}

// Keeps secrets out of the backup: a person who finds a backup must not also find the key to its encrypted columns.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { config } from '../../../config.js'
import { BadParameters, Failure } from '../../../errors.js'
import { HOST_KEY_FILES } from '../../../home.js'

/** The texts of the files of a home that contain secrets. */
export type SecretFiles = {
  readonly 'secrets.json': string
  /** It may contain the password of a database. */
  readonly 'config.yaml': string | null
} & { readonly [name in HostKeyFile]?: string | null }

/** SSH clients remember the host keys, so a restored appliance needs the same ones. */
type HostKeyFile = (typeof HOST_KEY_FILES)[number]

export const SECRETS_UNIT = 'secrets'

/** Returns a fingerprint of the key. It reveals nothing about the key. */
export function fingerprintOf(secrets: string): string {
  const { encryption_key } = JSON.parse(secrets) as { encryption_key: string }
  return createHash('sha256').update(`gitstead backup ${encryption_key}`).digest('hex').slice(0, 16)
}

/** Reads secrets.json and config.yaml of a home. */
export function readHomeSecrets(home = config().home): SecretFiles {
  const path = join(home, 'config.yaml')
  return {
    'secrets.json': readFileSync(join(home, 'secrets.json'), 'utf8'),
    'config.yaml': existsSync(path) ? readFileSync(path, 'utf8') : null
  }
}

/** Adds the host keys to the other secrets. Throws Failure for one that cannot be read. */
export function withHostKeys(files: SecretFiles, home = config().home): SecretFiles {
  return { ...files, ...Object.fromEntries(HOST_KEY_FILES.map(name => [name, readHostKey(join(home, name))])) }
}

function readHostKey(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Without SSH, an appliance has none.
    if (code === 'ENOENT') return null
    throw new Failure(`the host key ${path} cannot be read (${code}): make this user its owner`)
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
  const files: SecretFiles =
    typeof found.encryption_key === 'string'
      ? { 'secrets.json': text, 'config.yaml': null }
      : {
          ...Object.fromEntries(HOST_KEY_FILES.map(name => [name, found[name] ?? null])),
          'secrets.json': found['secrets.json'] ?? '',
          'config.yaml': found['config.yaml'] ?? null
        }
  try {
    fingerprintOf(files['secrets.json'])
  } catch {
    throw wrong('contain no encryption key')
  }
  return files
}

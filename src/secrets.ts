// HOME/secrets.json. The first start creates it. Only the owner can read it, and it is never logged.
import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { config } from './config.js'
import { Misconfigured, Undecryptable } from './errors.js'
import { makeFolders } from './home.js'
import { lruOf } from './lib/lru.js'

export interface Secrets {
  /** The password of the embedded database's only account. */
  readonly database_password: string
  /** The 32 bytes, in base64, of the key that encrypts secrets which must be shown again. */
  readonly encryption_key: string
}

const cached = new Map<string, Secrets>()

export const pathOfSecrets = () => join(config().home, 'secrets.json')

/** Returns the home's secrets. Throws Misconfigured when there are none: a process that only reads creates no home. */
export function secrets(): Secrets {
  const path = pathOfSecrets()
  const read = cached.get(path) ?? readSecrets(path)
  if (!read) throw new Misconfigured(`${path} is missing: ${KEY_REMEDY}`)
  cached.set(path, read)
  return read
}

/** What to do about a home without secrets, or with those of another appliance. */
export const KEY_REMEDY = 'put back the secrets.json of this appliance, from a backup or from another of its machines'

export const hasSecrets = (): boolean => existsSync(pathOfSecrets())

/** Creates the home's secrets when there are none. Two processes that start at the same time get the same secrets. */
export function ensureSecrets(): Secrets {
  const path = pathOfSecrets()
  const known = cached.get(path) ?? readSecrets(path) ?? makeSecrets(path)
  cached.set(path, known)
  return known
}

function readSecrets(path: string): Secrets | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Misconfigured(
      `${path} cannot be read (${(error as NodeJS.ErrnoException).code}): run as the home's owner`
    )
  }
  let found: Partial<Secrets> | null
  try {
    found = JSON.parse(text) as typeof found
  } catch {
    throw new Misconfigured(`${path} is not JSON: restore it from a backup`)
  }
  if (!isKey(found?.encryption_key)) {
    throw new Misconfigured(`${path} has no encryption_key of ${KEY_BYTES} bytes in base64: restore it from a backup`)
  }
  return found as Secrets
}

const KEY_BYTES = 32

const isKey = (key: unknown): boolean => typeof key === 'string' && Buffer.from(key, 'base64').length === KEY_BYTES

function makeSecrets(path: string): Secrets {
  const made = {
    database_password: randomBytes(24).toString('base64url'),
    encryption_key: randomBytes(KEY_BYTES).toString('base64')
  }
  makeFolders(config().home)
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 })
  try {
    // The link fails when another process was first; then the secrets of that process are used.
    linkSync(draft, path)
    return made
  } catch {
    return readSecrets(path) as Secrets
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Returns the SHA-256 of a token. The database stores this hash, and lookups compare it. */
export function tokenHash(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** Returns a new token of 20 URL-safe characters, 120 bits. */
export function newToken(): string {
  return randomBytes(15).toString('base64url')
}

/**
 * Returns the signature of a text, 32 bytes. A signature for one purpose is not valid for another: each purpose has its own
 * key, derived from the key of the home.
 */
export function signature(purpose: string, text: string): Buffer {
  const key = createHmac('sha256', Buffer.from(secrets().encryption_key, 'base64')).update(`signature of ${purpose}`)
  return createHmac('sha256', key.digest()).update(text, 'utf8').digest()
}

/** Returns a value that the same key always gives, and that reveals nothing about the key: 32 bytes. */
export const fingerprintOfKey = (): Buffer => signature('the encryption key', 'fingerprint')

/** Encrypts a text with AES-256-GCM. The result contains nonce, tag and encrypted text. */
export function encrypt(text: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(secrets().encryption_key, 'base64'), nonce)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

/**
 * Texts that were decrypted recently: a list of 20 projects shows 20 tokens, and decrypting them took an eighth of the time
 * of the request.
 */
const opened = lruOf<string, string>(10_000)
/** Bytes: longer texts, such as values of variables, would fill the memory. */
const LONGEST_KEPT = 1024

/** Decrypts the result of `encrypt`. Throws Undecryptable when it was made with another key, or is damaged. */
export function decrypt(box: Buffer): string {
  if (box.length > LONGEST_KEPT) return open(box)
  const name = box.toString('latin1')
  const known = opened.get(name)
  if (known !== undefined) return known
  const text = open(box)
  opened.set(name, text)
  return text
}

function open(box: Buffer): string {
  const key = Buffer.from(secrets().encryption_key, 'base64')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, 12))
    decipher.setAuthTag(box.subarray(12, 28))
    return Buffer.concat([decipher.update(box.subarray(28)), decipher.final()]).toString('utf8')
  } catch {
    throw new Undecryptable('a stored secret')
  }
}

/** Decrypts a value that has a name. Throws Undecryptable, with this name. */
export function decryptNamed(name: string, box: Buffer): string {
  try {
    return decrypt(box)
  } catch (error) {
    throw error instanceof Undecryptable ? new Undecryptable(name) : error
  }
}

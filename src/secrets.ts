// HOME/secrets.json. The first start creates it. Only the owner can read it, and it is never logged.
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { config } from './config.js'
import { Misconfigured } from './errors.js'
import { makeFolders } from './home.js'
import { lruOf } from './lib/lru.js'

export interface Secrets {
  /** The password of the embedded database's only account. */
  readonly database_password: string
  /** The 32 bytes, in base64, of the key that encrypts secrets which must be shown again. */
  readonly encryption_key: string
}

const cached = new Map<string, Secrets>()

const pathOfSecrets = () => join(config().home, 'secrets.json')

/** Returns the home's secrets. Throws Misconfigured when there are none: a process that only reads creates no home. */
export function secrets(): Secrets {
  const path = pathOfSecrets()
  const read = cached.get(path) ?? readSecrets(path)
  if (!read) throw new Misconfigured(`${path} is missing: put it back from a backup`)
  cached.set(path, read)
  return read
}

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
  try {
    return JSON.parse(text) as Secrets
  } catch {
    throw new Misconfigured(`${path} is not JSON: restore it from a backup`)
  }
}

function makeSecrets(path: string): Secrets {
  const made = {
    database_password: randomBytes(24).toString('base64url'),
    encryption_key: randomBytes(32).toString('base64')
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
  return createHash('sha256').update(token).digest()
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

/** Encrypts a text with AES-256-GCM. The result contains nonce, tag and encrypted text. */
export function encrypt(text: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(ensureSecrets().encryption_key, 'base64'), nonce)
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

/** Decrypts the result of `encrypt`. Throws when it was made with another key. */
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
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(secrets().encryption_key, 'base64'), box.subarray(0, 12))
  decipher.setAuthTag(box.subarray(12, 28))
  return Buffer.concat([decipher.update(box.subarray(28)), decipher.final()]).toString('utf8')
}

// The host keys, by which SSH clients recognize this server. The first start makes missing ones.
import { createHash, generateKeyPairSync } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Misconfigured } from '../../../errors.js'
import { hostKeyPaths } from '../../../home.js'

// Loaded only when it is used: a worker hardly ever needs keys.
const ssh2 = () => createRequire(import.meta.url)('ssh2') as typeof import('ssh2')

/** Returns the private keys, the preferred one first, and makes missing ones. Throws Misconfigured, which names the file of a wrong key. */
export function ensureHostKeys(): string[] {
  const [ed25519 = '', ecdsa = ''] = hostKeyPaths()
  // Old clients (JSch 0.1, Apache MINA SSHD without a library for EdDSA) support only the second one.
  return [ensureHostKey(ed25519, opensshKey), ensureHostKey(ecdsa, ecdsaKey)]
}

const ensureHostKey = (path: string, generate: () => string): string => readHostKey(path) ?? makeHostKey(path, generate)

const REMEDY = 'put back the key from a backup, or remove the file to get a new one'

/** Checks the keys that exist. Throws Misconfigured for one that the server cannot use. */
export function checkHostKeys(): void {
  for (const path of hostKeyPaths()) readHostKey(path)
}

function readHostKey(path: string): string | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new Misconfigured(`${path} cannot be read (${code}): make this user its owner`)
  }
  if (text.trim() === '') throw new Misconfigured(`${path} is empty: ${REMEDY}`)
  const key = ssh2().utils.parseKey(text)
  if (key instanceof Error || !key.isPrivateKey()) {
    throw new Misconfigured(`${path} is not a private key without a passphrase: ${REMEDY}`)
  }
  return text
}

/** Two processes that start at the same time get the same key. */
function makeHostKey(path: string, generate: () => string): string {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, generate(), { mode: 0o600, flush: true })
    linkSync(draft, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new Misconfigured(`${path} cannot be written (${code})`)
  } finally {
    rmSync(draft, { force: true })
  }
  return readHostKey(path) ?? makeHostKey(path, generate)
}

/** Returns a new key in the old form, which OpenSSH reads too. */
function ecdsaKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'sec1', format: 'pem' }).toString()
}

const TYPE = 'ssh-ed25519'

const field = (content: Buffer | string): Buffer => {
  const bytes = Buffer.from(content as string)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Returns a new key pair: the private key as a file of OpenSSH, and the line that a person adds at another server. */
export function newKeyPair(): { readonly privateKey: string; readonly publicKey: string } {
  const privateKey = opensshKey()
  const key = ssh2().utils.parseKey(privateKey)
  if (key instanceof Error) throw key
  return { privateKey, publicKey: `${TYPE} ${key.getPublicSSH().toString('base64')} gitstead` }
}

/** Writes a new key as ssh-keygen does. (The generator of ssh2 loses a byte of one key in 256.) */
export function opensshKey(): string {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const bytes = (text = '') => Buffer.from(text, 'base64url')
  const x = bytes(publicKey.export({ format: 'jwk' }).x)
  const d = bytes(privateKey.export({ format: 'jwk' }).d)
  const check = Buffer.alloc(8, createHash('sha256').update(x).digest().subarray(0, 4))
  const open = Buffer.concat([check, field(TYPE), field(x), field(Buffer.concat([d, x])), field('gitstead')])
  const padding = Buffer.from(Array.from({ length: (8 - (open.length % 8)) % 8 }, (_, at) => at + 1))
  const one = Buffer.alloc(4)
  one.writeUInt32BE(1)
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    field('none'),
    field('none'),
    field(''),
    one,
    field(Buffer.concat([field(TYPE), field(x)])),
    field(Buffer.concat([open, padding]))
  ])
  const lines = whole.toString('base64').match(/.{1,70}/g) ?? []
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n')
}

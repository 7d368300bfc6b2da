// The key by which SSH clients know this server again. The first start makes it.
import { createHash, generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { config } from '../../config.js'
import { Misconfigured } from '../../errors.js'
import { HOST_KEY_FILE } from '../../home.js'

export const hostKeyPath = () => join(config().home, HOST_KEY_FILE)

/** Returns the private key in the form of OpenSSH, and makes it when there is none. Throws Misconfigured. */
export function ensureHostKey(): string {
  return readHostKey() ?? makeHostKey()
}

function readHostKey(): string | undefined {
  try {
    return readFileSync(hostKeyPath(), 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new Misconfigured(`${hostKeyPath()} cannot be read (${code}): make this user its owner`)
  }
}

/** Two processes that start at the same time get the same key. */
function makeHostKey(): string {
  const path = hostKeyPath()
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, opensshKey(), { mode: 0o600, flush: true })
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(path, 'utf8')
}

const TYPE = 'ssh-ed25519'

const field = (content: Buffer | string): Buffer => {
  const bytes = Buffer.from(content as string)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Writes a new key as ssh-keygen does. (The generator of ssh2 loses a byte of one key in 256.) */
export function opensshKey(): string {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const bytes = (text = '') => Buffer.from(text, 'base64url')
  const x = bytes((publicKey.export({ format: 'jwk' }) as JsonWebKey).x)
  const d = bytes((privateKey.export({ format: 'jwk' }) as JsonWebKey).d)
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

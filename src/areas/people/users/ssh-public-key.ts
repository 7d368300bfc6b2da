// Reads the text that a user pastes as an SSH key, and checks that the key may give access to repositories.
import { createHash, createPublicKey } from 'node:crypto'
import { Invalid } from '../../../errors.js'

export interface SshPublicKey {
  /** The given text without surrounding space: type, base64 and an optional comment. */
  readonly text: string
  /** The type, such as `ssh-ed25519`. */
  readonly type: string
  /** SHA256 of the key's blob in base64 without padding, as `ssh-keygen -l` prints it after `SHA256:`. */
  readonly fingerprint: string
}

const MAXIMUM = 5000
const RSA_BITS = { least: 2048, most: 16_384 }

const PRIVATE = /-BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File|b3BlbnNzaC1rZXktdjE/i
/** One line of printable characters. Options of authorized_keys and certificates are refused, because nothing would respect them. */
const LINE = /^((?:ssh|ecdsa|sk)-[a-z0-9@.-]+) +([A-Za-z0-9+/]+={0,2})(?: [^\p{Cc}]*)?$/u

// Not specified: which key types are accepted. ssh-dss keys have only 1024 bits, and the library cannot read sk- keys.
const ACCEPTED = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa']

/** Reads a public key. Throws Invalid. The message never contains the given text, because it may be a private key. */
export async function readSshPublicKey(input: string): Promise<SshPublicKey> {
  const text = input.trim()
  if (PRIVATE.test(text)) {
    throw new Invalid(
      'key',
      'is a private key: keep it secret, and add the public one, from the file that ends in .pub'
    )
  }
  if (text === '') throw new Invalid('key', "can't be blank")
  if (text.length > MAXIMUM) throw new Invalid('key', `is too long (maximum is ${MAXIMUM} characters)`)
  if (/[\r\n]/.test(text)) throw new Invalid('key', 'should be a single line')
  const [, type = '', base64 = ''] = LINE.exec(text) ?? []
  if (type === '') throw unreadable()
  if (!ACCEPTED.includes(type)) throw new Invalid('key', `has a type that is not accepted: use ${ACCEPTED.join(', ')}`)
  const blob = Buffer.from(base64, 'base64')
  await checkBlob(type, base64, blob)
  return { text, type, fingerprint: createHash('sha256').update(blob).digest('base64').replace(/=+$/, '') }
}

async function checkBlob(type: string, base64: string, blob: Buffer): Promise<void> {
  // The library takes 40 ms to load, so only requests that add a key load it.
  const { default: ssh2 } = await import('ssh2')
  const key = ssh2.utils.parseKey(`${type} ${base64}`)
  if (key instanceof Error) throw unreadable()
  // The key, written again, must equal the blob: so the blob has the type that the line names, and no trailing bytes.
  // Thus one key has only one fingerprint.
  if (key.isPrivateKey() || key.type !== type || !key.getPublicSSH().equals(blob)) throw unreadable()
  const { modulusLength, publicExponent } = detailsOf(key.getPublicPEM())
  if (type !== 'ssh-rsa') return
  const { least, most } = RSA_BITS
  if (modulusLength === undefined || modulusLength < least || modulusLength > most) {
    throw new Invalid('key', `has ${modulusLength} bits: ssh-rsa needs ${least} to ${most}`)
  }
  // With the exponent 1, anybody could sign.
  if (publicExponent === undefined || publicExponent < 3n || publicExponent % 2n === 0n) throw unreadable()
}

/** Returns details of the key. It also refuses points that are not on their curve. */
function detailsOf(pem: string) {
  try {
    return createPublicKey(pem).asymmetricKeyDetails ?? {}
  } catch {
    throw unreadable()
  }
}

const unreadable = () => new Invalid('fingerprint', 'cannot be generated')

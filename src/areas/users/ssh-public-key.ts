// What somebody pastes as an SSH key, and whether it is one that may open repositories.
import { createHash, createPublicKey } from 'node:crypto'
import { Invalid } from '../../errors.js'

export interface SshPublicKey {
  /** As it was given, but for space around it: type, base64 and perhaps a comment. */
  readonly text: string
  /** Such as `ssh-ed25519`. */
  readonly type: string
  /** SHA256 of the key's blob, base64 without padding: what `ssh-keygen -l` prints behind `SHA256:`. */
  readonly fingerprint: string
}

const MAXIMUM = 5000
const RSA_BITS = { least: 2048, most: 16_384 }

const PRIVATE = /-BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File|b3BlbnNzaC1rZXktdjE/i
/** One line of printable characters. No options as in authorized_keys, and no certificate: they would not be heeded. */
const LINE = /^((?:ssh|ecdsa|sk)-[a-z0-9@.-]+) +([A-Za-z0-9+/]+={0,2})(?: [^\p{Cc}]*)?$/u

// Not specified: which kinds are accepted. ssh-dss has keys of 1024 bits only, and the library reads no sk- keys.
const ACCEPTED = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa']

/** Reads a public key. Throws Invalid, whose text never holds what was given: it may be a private key. */
export async function readSshPublicKey(given: string): Promise<SshPublicKey> {
  const text = given.trim()
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
  if (!ACCEPTED.includes(type))
    throw new Invalid('key', `is of a kind that is not accepted: use ${ACCEPTED.join(', ')}`)
  const blob = Buffer.from(base64, 'base64')
  await checkBlob(type, base64, blob)
  return { text, type, fingerprint: createHash('sha256').update(blob).digest('base64').replace(/=+$/, '') }
}

async function checkBlob(type: string, base64: string, blob: Buffer): Promise<void> {
  // Only who adds a key loads the library: 40 ms.
  const { default: ssh2 } = await import('ssh2')
  const key = ssh2.utils.parseKey(`${type} ${base64}`)
  if (key instanceof Error) throw unreadable()
  // Written anew it must be the same: the type that the blob names is the one before it, and nothing comes after it. So
  // one key has one fingerprint.
  if (key.isPrivateKey() || key.type !== type || !key.getPublicSSH().equals(blob)) throw unreadable()
  const { modulusLength, publicExponent } = detailsOf(key.getPublicPEM())
  if (type !== 'ssh-rsa') return
  const { least, most } = RSA_BITS
  if (modulusLength === undefined || modulusLength < least || modulusLength > most) {
    throw new Invalid('key', `is of ${modulusLength} bits: ssh-rsa takes ${least} to ${most}`)
  }
  // Whoever can sign with the exponent 1 is anybody.
  if (publicExponent === undefined || publicExponent < 3n || publicExponent % 2n === 0n) throw unreadable()
}

/** Also finds points that are not on their curve. */
function detailsOf(pem: string) {
  try {
    return createPublicKey(pem).asymmetricKeyDetails ?? {}
  } catch {
    throw unreadable()
  }
}

const unreadable = () => new Invalid('fingerprint', 'cannot be generated')

// Makes real SSH keys in the format of ssh-keygen. It does not use ssh2, whose generator loses a byte of one ed25519
// key in 256.
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import ssh2 from 'ssh2'

/** Returns a new public key, of the type that is generated fastest. */
export function newKey(comment = 'ada@example.org'): string {
  const { x } = jwk(generateKeyPairSync('ed25519').publicKey)
  return `${craftKey('ssh-ed25519', bytes(x))} ${comment}`.trim()
}

export function rsaKey(modulusLength: number): string {
  const { e, n } = jwk(generateKeyPairSync('rsa', { modulusLength }).publicKey)
  return craftKey('ssh-rsa', positive(bytes(e)), positive(bytes(n)))
}

export function ecdsaKey(bits: 256 | 384 | 521): string {
  const { x, y } = jwk(generateKeyPairSync('ec', { namedCurve: `P-${bits}` }).publicKey)
  const point = Buffer.concat([Buffer.from([4]), bytes(x), bytes(y)])
  return craftKey(`ecdsa-sha2-nistp${bits}`, `nistp${bits}`, point)
}

/** Returns a private key as OpenSSH stores it in `id_ed25519` or `id_rsa`. */
export const privateKeyFile = (kind: 'ed25519' | 'rsa'): string =>
  kind === 'rsa'
    ? ssh2.utils.generateKeyPairSync('rsa', { bits: 2048 }).private
    : ssh2.utils.generateKeyPairSync('ed25519').private

/** Returns a public key as text, of any type and with any fields: the wire format without a check. */
export function craftKey(type: string, ...fields: (Buffer | string)[]): string {
  const parts = [type, ...fields].map(field => {
    const content = Buffer.from(field as string)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(content.length)
    return Buffer.concat([length, content])
  })
  return `${type} ${Buffer.concat(parts).toString('base64')}`
}

/** Returns a number with a zero byte in front when its first bit would be read as a sign. */
export const positive = (number: Buffer): Buffer =>
  (number[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), number]) : number

const jwk = (key: KeyObject) => key.export({ format: 'jwk' })
const bytes = (text = ''): Buffer => Buffer.from(text, 'base64url')

// Real SSH keys, made as ssh-keygen makes them.
import ssh2 from 'ssh2'

const { generateKeyPairSync } = ssh2.utils

/** A new public key of the kind that is made fastest. */
export const newKey = (comment = 'ada@example.org'): string => generateKeyPairSync('ed25519', { comment }).public

export const rsaKey = (bits: number) => generateKeyPairSync('rsa', { bits })

export const ecdsaKey = (bits: 256 | 384 | 521) => generateKeyPairSync('ecdsa', { bits })

export const ed25519Pair = () => generateKeyPairSync('ed25519')

/** A public key as text, of any type and with any fields: the wire format without a check. */
export function craftKey(type: string, ...fields: (Buffer | string)[]): string {
  const parts = [type, ...fields].map(field => {
    const bytes = Buffer.from(field as string)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return Buffer.concat([length, bytes])
  })
  return `${type} ${Buffer.concat(parts).toString('base64')}`
}

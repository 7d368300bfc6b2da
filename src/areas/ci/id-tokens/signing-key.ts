// The key that signs `id_tokens` of builds: one for the appliance, created once and encrypted at rest. Its public half
// is published.
import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { decrypt, encrypt } from '../../../secrets.js'
import { storeIdTokenKey } from '../../ground/settings/instance-secrets.js'
import { settingsRecord } from '../../ground/settings/settings.queries.js'

export const ALGORITHM = 'RS256'

export interface SigningKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: { readonly n: string; readonly e: string }
  /** The first part of all its tokens. */
  readonly header: string
}

/**
 * Returns the key, and creates a missing one. A key that was encrypted with a different key, as after a restore without
 * its secrets, is replaced, because nobody can use it.
 */
export async function signingKey(): Promise<SigningKey> {
  return (await knownSigningKey()) ?? makeKey()
}

/** Returns the key if it exists and can be decrypted. */
export const knownSigningKey = async (): Promise<SigningKey | undefined> => open(await storedBox())

async function storedBox(): Promise<Buffer | null> {
  const found = await row<{ box: Buffer | null }>(
    'select id_token_key_encrypted as box from application_settings where id = 1'
  )
  return found?.box ?? null
}

async function makeKey(): Promise<SigningKey> {
  // Outside of the transaction, because this takes up to a second.
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  const box = encrypt(privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'))
  return transact(async () => {
    // Locks the row, so that two concurrent first uses get the same key.
    await settingsRecord({ lock: true })
    const known = await knownSigningKey()
    if (known) return known
    await storeIdTokenKey(box)
    return keyOf(privateKey)
  })
}

let opened: { readonly box: Buffer; readonly key: SigningKey } | undefined

function open(box: Buffer | null): SigningKey | undefined {
  if (!box) return undefined
  if (opened?.box.equals(box)) return opened.key
  try {
    const der = Buffer.from(decrypt(box), 'base64')
    opened = { box, key: keyOf(createPrivateKey({ key: der, type: 'pkcs8', format: 'der' })) }
    return opened.key
  } catch {
    return undefined
  }
}

function keyOf(privateKey: KeyObject): SigningKey {
  const { n = '', e = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  // The thumbprint of RFC 7638, with the members in this order.
  const id = createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url')
  const header = Buffer.from(JSON.stringify({ alg: ALGORITHM, kid: id, typ: 'JWT' })).toString('base64url')
  return { id, privateKey, publicKey: { n, e }, header }
}

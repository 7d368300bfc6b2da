// The key that signs `id_tokens` of builds: one for the appliance, made once, encrypted at rest. Its public half is for
// everybody.
import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { execute, row } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { decrypt, encrypt } from '../../secrets.js'
import { settingsRecord } from '../settings/settings.queries.js'

export const ALGORITHM = 'RS256'

export interface SigningKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: { readonly n: string; readonly e: string }
  /** The first part of all its tokens. */
  readonly header: string
}

/**
 * Returns the key, and makes it when there is none. A key that was encrypted with another one, as after a restore without
 * its secrets, is replaced: nobody can sign with it any more.
 */
export async function signingKey(): Promise<SigningKey> {
  return (await knownSigningKey()) ?? makeKey()
}

/** Returns the key if there is one that can be read. */
export const knownSigningKey = async (): Promise<SigningKey | undefined> => open(await storedBox())

async function storedBox(): Promise<Buffer | null> {
  const found = await row<{ box: Buffer | null }>(
    'select id_token_key_encrypted as box from application_settings where id = 1'
  )
  return found?.box ?? null
}

async function makeKey(): Promise<SigningKey> {
  // Outside of the transaction: this takes up to a second.
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  const box = encrypt(privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'))
  return transact(async () => {
    // Locks the row, so that two who need the key first get the same one.
    await settingsRecord({ lock: true })
    const known = await knownSigningKey()
    if (known) return known
    await execute('update application_settings set id_token_key_encrypted = ? where id = 1', [box])
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
  // The thumbprint of RFC 7638: the members in this order.
  const id = createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url')
  const header = Buffer.from(JSON.stringify({ alg: ALGORITHM, kid: id, typ: 'JWT' })).toString('base64url')
  return { id, privateKey, publicKey: { n, e }, header }
}

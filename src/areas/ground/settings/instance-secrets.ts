// Secrets of the instance. They are in the row of the settings, but no setting shows them.
import { execute } from '../../../db/connect/sql.js'
import { encrypt, newToken, tokenHash } from '../../../secrets.js'

/** Stores a new token with which shared runners register. Returns the token. */
export async function replaceSharedRunnersToken(): Promise<string> {
  const token = newToken()
  await execute('update application_settings set runners_token_hash = ?, runners_token_encrypted = ? where id = 1', [
    tokenHash(token),
    encrypt(token)
  ])
  return token
}

/** Stores the encrypted key that signs the id_tokens of builds. */
export async function storeIdTokenKey(encrypted: Buffer): Promise<void> {
  await execute('update application_settings set id_token_key_encrypted = ? where id = 1', [encrypted])
}

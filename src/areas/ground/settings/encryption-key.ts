// Ties the database to the key of its home: a process with another key could decrypt nothing, and would write values that the
// right key cannot decrypt. The row of the settings has a fingerprint of the key.
import { execute, row } from '../../../db/connect/sql.js'
import { Misconfigured, Undecryptable } from '../../../errors.js'
import { decrypt, ensureSecrets, fingerprintOfKey, hasSecrets, KEY_REMEDY, pathOfSecrets } from '../../../secrets.js'

/**
 * - right: the key of the home is that of the database
 * - unmarked: the database has no fingerprint yet, and no value that shows another key
 * - wrong: the database has values of another key
 * - missing: the home has no key, but the database has users
 * - new: the home has no key, and the database has no users
 */
export type KeyState = 'right' | 'unmarked' | 'wrong' | 'missing' | 'new'

/** Compares the key of the home with the database. It changes nothing. */
export async function stateOfKey(): Promise<KeyState> {
  const known = await storedFingerprint()
  if (!hasSecrets()) return known || (await row('select 1 from users limit 1')) ? 'missing' : 'new'
  if (known) return known.equals(fingerprintOfKey()) ? 'right' : 'wrong'
  return (await opensFirst()) ? 'unmarked' : 'wrong'
}

/**
 * Throws Misconfigured unless the key of the home is that of the database. `makes` also lets this process create the key of a
 * new appliance, and write the fingerprint. Without it, a home without a key is accepted: commands that need no key work.
 */
export async function requireKey({ makes }: { makes: boolean }): Promise<void> {
  const state = await stateOfKey()
  if (state === 'wrong' || (makes && state === 'missing')) throw refusal(state)
  if (!makes || state === 'right') return
  ensureSecrets()
  await execute('update application_settings set key_fingerprint = ? where id = 1 and key_fingerprint is null', [
    fingerprintOfKey()
  ])
  // Another machine may have been first.
  if ((await stateOfKey()) === 'wrong') throw refusal('wrong')
}

/** Describes a key that cannot be used. */
export function problemOfKey(state: 'wrong' | 'missing'): { readonly fault: string; readonly remedy: string } {
  const fault = state === 'missing' ? 'is missing, but the database has users' : 'has another key than the database'
  return { fault: `${pathOfSecrets()} ${fault}`, remedy: KEY_REMEDY }
}

function refusal(state: 'wrong' | 'missing'): Misconfigured {
  const { fault, remedy } = problemOfKey(state)
  return new Misconfigured(`${fault}: ${remedy}`)
}

const storedFingerprint = async () =>
  (await row<{ known: Buffer | null }>('select key_fingerprint as known from application_settings where id = 1'))?.known

/** The oldest token shows the first key of a database that machines with several keys have used. */
async function opensFirst(): Promise<boolean> {
  const token = await row<{ box: Buffer }>(
    'select encrypted as box from access_tokens where encrypted is not null order by id limit 1'
  )
  try {
    if (token) decrypt(token.box)
    return true
  } catch (error) {
    if (error instanceof Undecryptable) return false
    throw error
  }
}

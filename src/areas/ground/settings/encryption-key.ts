// Ties the database to the key of its home: a process with another key could decrypt nothing, and would write values that the
// right key cannot decrypt. The row of the settings has a fingerprint of the key.
import type { Origin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Misconfigured } from '../../../errors.js'
import { ensureSecrets, fingerprintOfKey, hasSecrets, KEY_REMEDY, pathOfSecrets } from '../../../secrets.js'
import { audit } from '../audit/audit.js'
import { findUndecryptable, opensAny } from './encrypted-values.js'

/**
 * - right: the key of the home is that of the database
 * - unmarked: the database has no fingerprint yet, and the key decrypts some of its values, or it has none
 * - wrong: the database has the fingerprint of another key, or only values of one
 * - missing: the home has no key, but the database has users
 * - new: the home has no key, and the database has no users
 */
export type KeyState = 'right' | 'unmarked' | 'wrong' | 'missing' | 'new'

/** Compares the key of the home with the database. It changes nothing. */
export async function stateOfKey(): Promise<KeyState> {
  const known = await storedFingerprint()
  if (!hasSecrets()) return known || (await row('select 1 from users limit 1')) ? 'missing' : 'new'
  if (known) return known.equals(fingerprintOfKey()) ? 'right' : 'wrong'
  return (await opensAny()) ? 'unmarked' : 'wrong'
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
  return {
    fault: `${pathOfSecrets()} ${fault}`,
    remedy: `${KEY_REMEDY}, or if it is lost for good, run gitstead db accept-key`
  }
}

function refusal(state: 'wrong' | 'missing'): Misconfigured {
  const { fault, remedy } = problemOfKey(state)
  return new Misconfigured(`${fault}: ${remedy}`)
}

/** Returns the path of the file with the key when it is missing. */
export const missingKeyFile = (): string | null => (hasSecrets() ? null : pathOfSecrets())

/** Creates a new key where one is missing, for `acceptKey`. */
export const replaceMissingKey = (): void => void ensureSecrets()

const storedFingerprint = async () =>
  (await row<{ known: Buffer | null }>('select key_fingerprint as known from application_settings where id = 1'))?.known

export interface AcceptedKey {
  /** False when the key was that of the database before. */
  readonly accepted: boolean
  /** How many values the key cannot decrypt, at most 1000. */
  readonly undecryptable: number
}

/**
 * Makes the key of the home that of the database, for somebody who has lost the other one for good; without one, creates it. Values
 * of the other key stay as they are. With `dryRun` it changes nothing.
 */
export async function acceptKey({ dryRun }: { dryRun: boolean }, origin: Origin): Promise<AcceptedKey> {
  const state = await stateOfKey()
  if (!dryRun) ensureSecrets()
  const undecryptable = (await findUndecryptable({ all: true })).length
  if (state === 'right') return { accepted: false, undecryptable }
  if (!dryRun) {
    await transact(async () => {
      await execute('update application_settings set key_fingerprint = ? where id = 1', [fingerprintOfKey()])
      const target = { type: 'settings', id: 1, name: 'encryption key' }
      await audit(origin, { action: 'key.accept', target, changes: { undecryptable: { after: undecryptable } } })
    })
  }
  return { accepted: true, undecryptable }
}

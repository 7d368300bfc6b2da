// SSH keys that a directory gives to its people. It decides about these only: keys that people have added themselves stay.
import type { Origin } from '../../../access/actor.js'
import { rows } from '../../../db/connect/sql.js'
import { Invalid, Taken } from '../../../errors.js'
import { log } from '../../../log.js'
import { deleteKey, insertReadKey, type ReadKey, readKey } from '../users/keys.js'

/** A step towards the keys that a directory gives. */
export type KeyStep = { readonly add: ReadKey } | { readonly remove: number }

/** Returns what differs from the keys that a directory gives, with one statement. A text that is not a public key gives none. */
export async function keyStepsTo(userId: number, provider: string, texts: readonly string[]): Promise<KeyStep[]> {
  const known = await rows<{ id: number; fingerprint: string; provider: string | null }>(
    'select id, fingerprint, provider from ssh_keys where user_id = ?',
    [userId]
  )
  const wanted = new Map<string, ReadKey>()
  for (const text of texts) {
    const key = await readKey({ title: titleOf(text, provider), key: text }).catch(error => {
      if (error instanceof Invalid) return undefined
      throw error
    })
    if (key) wanted.set(key.fingerprint, key)
  }
  const has = new Set(known.map(({ fingerprint }) => fingerprint))
  return [
    ...known.flatMap(key => (key.provider === provider && !wanted.has(key.fingerprint) ? [{ remove: key.id }] : [])),
    ...[...wanted.values()].flatMap(add => (has.has(add.fingerprint) ? [] : [{ add }]))
  ]
}

/** The comment of the key. */
function titleOf(text: string, provider: string): string {
  const comment = text.trim().split(/\s+/).slice(2).join(' ')
  return comment === '' ? provider : comment.slice(0, 255)
}

/** Makes the steps. A key that somebody else has is left out. Call it inside `transact`. */
export async function takeKeySteps(
  owner: { readonly id: number; readonly username: string },
  provider: string,
  steps: readonly KeyStep[],
  origin: Origin
): Promise<void> {
  for (const step of steps) {
    if ('remove' in step) await deleteKey(owner, step.remove, origin)
    else await give(owner, provider, step.add, origin)
  }
}

async function give(
  owner: { readonly id: number; readonly username: string },
  provider: string,
  key: ReadKey,
  origin: Origin
): Promise<void> {
  try {
    await insertReadKey(owner, key, origin, { mail: false, provider })
  } catch (error) {
    if (!(error instanceof Taken || error instanceof Invalid)) throw error
    const { fingerprint } = key
    log().warn(
      { provider, user: owner.username, fingerprint },
      'a key of a directory was left out: somebody else has it'
    )
  }
}

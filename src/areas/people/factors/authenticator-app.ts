// Codes of an authenticator app (RFC 6238): six digits, a new one every 30 seconds.
import { timingSafeEqual } from 'node:crypto'
import type { Origin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid } from '../../../errors.js'
import { lazily } from '../../../lib/plug.js'
import { decryptNamed, encrypt, signature } from '../../../secrets.js'
import { holdUserAlone } from '../users/users.queries.js'
import { type Owner, recordChange } from './changes.js'
import { switchOffWithoutFactors, switchOn } from './factors.js'

/** 30 ms to load. */
const library = lazily(() => import('otplib'))

const STEP_S = 30

/** Codes of the step before and after the current one count, because clocks differ and people type slowly. */
const WINDOW = 1

/** A secret that is not in use yet. The set-up page carries it until the person proves that the app has it. */
export interface NewApp {
  readonly secret: string
  /** What the app reads from the QR code. */
  readonly uri: string
  /** Proves that this appliance made the secret for this user: the form sends both back. */
  readonly proof: string
}

export async function newApp(owner: Owner, host: string): Promise<NewApp> {
  const { generateSecret } = await library()
  return appOf(owner, generateSecret(), host)
}

/** Returns the same as when the secret was made; undefined when it was not made for this user. */
export async function knownApp(
  owner: Owner,
  { secret, proof }: { readonly secret: string; readonly proof: string },
  host: string
): Promise<NewApp | undefined> {
  const app = await appOf(owner, secret, host)
  const [given, expected] = [Buffer.from(proof), Buffer.from(app.proof)]
  return given.length === expected.length && timingSafeEqual(given, expected) ? app : undefined
}

async function appOf(owner: Owner, secret: string, host: string): Promise<NewApp> {
  const { generateURI } = await library()
  return {
    secret,
    // Apps show the host, because a person may have accounts on several appliances.
    uri: generateURI({ issuer: `Gitstead ${host}`, label: owner.username, secret }),
    proof: signature('the secret of a new authenticator app', `${owner.id} ${secret}`).toString('base64url')
  }
}

export const isAppCode = (text: string): boolean => /^\d{6}$/.test(text)

/** Returns the step of a code; undefined for a wrong code. */
async function stepOf(secret: string, code: string): Promise<number | undefined> {
  const { verifySync } = await library()
  const checked = verifySync({
    secret,
    token: code,
    epoch: Math.floor(Date.now() / 1000),
    epochTolerance: WINDOW * STEP_S
  })
  return checked.valid && 'timeStep' in checked ? checked.timeStep : undefined
}

/**
 * Sets up an authenticator app, in place of the one that the user has. Returns new recovery codes if this is the first factor.
 * Throws Invalid for a wrong code.
 */
export async function addApp(
  owner: Owner,
  { secret, code }: { secret: string; code: string },
  origin: Origin
): Promise<readonly string[]> {
  const step = isAppCode(code) ? await stepOf(secret, code) : undefined
  if (step === undefined) throw new Invalid('code', 'is wrong')
  return transact(async () => {
    await holdUserAlone(owner.id)
    await execute('delete from authenticator_apps where user_id = ?', [owner.id])
    await execute(
      'insert into authenticator_apps (user_id, secret_encrypted, last_step, created_at) values (?, ?, ?, ?)',
      [owner.id, encrypt(secret), step, new Date()]
    )
    await recordChange({ owner, action: 'authenticator_app.create', mail: { what: 'app_added' } }, origin)
    return switchOn(owner.id)
  })
}

/** Removes the authenticator app of a user. Returns false when there is none. */
export function removeApp(owner: Owner, origin: Origin): Promise<boolean> {
  return transact(async () => {
    await holdUserAlone(owner.id)
    const { affectedRows } = await execute('delete from authenticator_apps where user_id = ?', [owner.id])
    if (affectedRows === 0) return false
    await switchOffWithoutFactors(owner.id)
    await recordChange({ owner, action: 'authenticator_app.delete', mail: { what: 'app_removed' } }, origin)
    return true
  })
}

/** Uses a code up. Returns false for a wrong code, and for one that is not newer than the last code that was accepted. */
export async function useAppCode(userId: number, code: string): Promise<boolean> {
  const found = await row<{ secret: Buffer }>(
    'select secret_encrypted as secret from authenticator_apps where user_id = ?',
    [userId]
  )
  const step = found && (await stepOf(decryptNamed('the secret of an authenticator app', found.secret), code))
  if (step === undefined) return false
  // Of two requests with the same code, one changes the row. Another app, set up a moment ago, has another secret.
  const { affectedRows } = await execute(
    'update authenticator_apps set last_step = ? where user_id = ? and last_step < ? and secret_encrypted = ?',
    [step, userId, step, found?.secret ?? null]
  )
  return affectedRows === 1
}

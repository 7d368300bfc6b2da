// Passkeys (WebAuthn): keys on a phone, in a password manager or on a security key. They are a second factor, and those that check a
// PIN or a fingerprint also sign in without a password.
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON
} from '@simplewebauthn/server'
import { nobody, type Origin, originOf } from '../../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../../access/actor-user.js'
import { config, publicUrl } from '../../../config.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Forbidden, Invalid, NotFound } from '../../../errors.js'
import { lazily } from '../../../lib/plug.js'
import { lineProblem } from '../../../lib/text-line.js'
import { log } from '../../../log.js'
import { signature } from '../../../secrets.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import type { SignIn } from '../credentials/credentials.js'
import { noteUseOf } from '../credentials/last-use.js'
import { UNCONFIRMED } from '../credentials/password-sign-in.js'
import { hasLocalPassword } from '../users/password-rules.js'
import { isSuspended, letIn } from '../users/suspension.js'
import { holdUserAlone } from '../users/users.queries.js'
import { CHALLENGE_S, isChallenge, newChallenge, type Purpose, takeChallenge } from './challenges.js'
import { type Owner, recordChange } from './changes.js'
import { switchOffWithoutFactors, switchOn } from './factors.js'

/** The maximum number of passkeys of a user. */
const MOST = 20

/** EdDSA, ES256 and RS256: what authenticators have. */
const ALGORITHMS = [-8, -7, -257]

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']

/** 0.1 s to load. */
const library = lazily(() => import('@simplewebauthn/server'))
const helpers = lazily(() => import('@simplewebauthn/server/helpers'))

/** The name under which authenticators keep the passkeys of this appliance, and the only place where browsers use them. */
function relyingParty() {
  const { hostname, origin } = new URL(publicUrl())
  return { id: hostname, origin }
}

/** Returns whether browsers use passkeys at the address of this appliance: https, or this machine, and a name instead of a number. */
export function havePasskeys(): boolean {
  const { protocol, hostname } = new URL(publicUrl())
  if (hostname === 'localhost') return true
  return protocol === 'https:' && !hostname.includes('[') && !/^[\d.]+$/.test(hostname)
}

/** The same for each passkey of a user. It says nothing about the user. */
const handleOf = (userId: number): Buffer => signature('the handle of a user for passkeys', String(userId))

export interface Passkey {
  readonly id: number
  readonly name: string
  readonly created_at: Date
  readonly last_used_at: Date | null
}

export const passkeysOf = (userId: number): Promise<Passkey[]> =>
  rows<Passkey>('select id, name, created_at, last_used_at from passkeys where user_id = ? order by id', [userId])

interface Known {
  readonly credential: Buffer
  readonly transports: string
}

async function credentialsOf(userId: number): Promise<{ id: string; transports: string[] }[]> {
  const found = await rows<Known>('select credential, transports from passkeys where user_id = ? order by id', [userId])
  return found.map(({ credential, transports }) => ({
    id: credential.toString('base64url'),
    transports: transports.split(',').filter(Boolean)
  }))
}

/** What the browser needs to make a passkey. `browser` is a secret of the browser, to which the answer is bound. */
export async function creationOptions(
  owner: Owner & { readonly name: string },
  browser: string
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await library()
  return generateRegistrationOptions({
    rpName: 'Gitstead',
    rpID: relyingParty().id,
    userName: owner.username,
    userDisplayName: owner.name,
    userID: new Uint8Array(handleOf(owner.id)),
    challenge: new Uint8Array(newChallenge('passkey.add', browser)),
    timeout: CHALLENGE_S * 1000,
    attestationType: 'none',
    excludeCredentials: await credentialsOf(owner.id),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    supportedAlgorithmIDs: ALGORITHMS
  })
}

/** What the browser needs to use a passkey: one of this user, or without a user any that checks who holds it. */
export async function requestOptions(
  purpose: Purpose,
  browser: string,
  userId?: number
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const known = userId === undefined ? [] : await credentialsOf(userId)
  return {
    rpId: relyingParty().id,
    challenge: newChallenge(purpose, browser).toString('base64url'),
    timeout: CHALLENGE_S * 1000,
    allowCredentials: known.map(credential => ({ type: 'public-key', ...credential })),
    userVerification: userId === undefined ? 'required' : 'preferred'
  }
}

/** Does the same for a sign-in without a password; undefined where that is not possible. */
export async function signInOptions(browser: string): Promise<PublicKeyCredentialRequestOptionsJSON | undefined> {
  return signsIn() ? requestOptions('passkey.sign_in', browser) : undefined
}

const signsIn = (): boolean => config().identity.two_factor.passkey_sign_in && havePasskeys()

const PASSKEYS_OFF = 'Signing in with a passkey is switched off'

/**
 * Returns the sign-in of the active user who holds a passkey; null for any other answer. Throws Forbidden when the configuration or
 * signin_enabled is against it, and when the address of the user is not confirmed. A passkey that has checked who holds it is as
 * much as a password and a second factor.
 */
export async function signInByPasskey(answer: string, browser: string, address: string): Promise<SignIn | null> {
  if (!signsIn()) throw new Forbidden(PASSKEYS_OFF)
  const userId = await userOfPasskey({ purpose: 'passkey.sign_in', answer, browser }, originOf(nobody, address))
  const found = userId === null ? undefined : await findHolder(userId)
  if (!found || !(found.state === 'active' || isSuspended(found))) return null
  // The same rules as for a password.
  if (found.admin === 0 && !(await applicationSettings()).signin_enabled) throw new Forbidden(PASSKEYS_OFF)
  if (!hasLocalPassword(found.username)) throw new Forbidden(PASSKEYS_OFF)
  if (!found.confirmed) throw new Forbidden(UNCONFIRMED)
  await letIn(found, address)
  noteUseOf(found.id)
  return { user: actorUserOf(found), provider: 'passkey', factor: 'passkey' }
}

interface Holder extends ActorUserColumns {
  readonly state: string
  readonly block_reason: string | null
  readonly confirmed: number
}

const findHolder = (id: number): Promise<Holder | undefined> =>
  row<Holder>(
    `select ${ACTOR_USER}, u.state, u.block_reason, u.confirmed_at is not null as confirmed from users u where u.id = ?`,
    [id]
  )

export interface NewPasskey {
  readonly name: string
  /** What the browser answered, as JSON. */
  readonly answer: string
  readonly browser: string
}

/**
 * Adds a passkey to a user. Returns new recovery codes if this is the first factor. Throws Invalid when the name, or what the
 * browser answered, is wrong, and when another account has the passkey.
 */
export async function addPasskey(
  owner: Owner,
  { name, answer, browser }: NewPasskey,
  origin: Origin
): Promise<readonly string[]> {
  const problem = lineProblem(name)
  if (problem) throw new Invalid('name', problem)
  const made = await readMade(answer, browser)
  return transact(async () => {
    await holdUserAlone(owner.id)
    if ((await passkeysOf(owner.id)).length >= MOST)
      throw new Invalid('passkey', `is one too many (maximum is ${MOST})`)
    try {
      await execute(
        `insert into passkeys (user_id, name, credential, public_key, counter, transports, created_at)
         values (?, ?, ?, ?, ?, ?, ?)`,
        [owner.id, name, made.credential, made.publicKey, made.counter, made.transports, new Date()]
      )
    } catch (error) {
      throw duplicateKey(error) ? new Invalid('passkey', 'is known already') : error
    }
    const changes = { passkey: { after: name } }
    await recordChange({ owner, action: 'passkey.create', changes, mail: { what: 'passkey_added', name } }, origin)
    return switchOn(owner.id)
  })
}

const REFUSED = 'was refused: open this page again, and try once more'

async function readMade(answer: string, browser: string) {
  const { verifyRegistrationResponse } = await library()
  const { decodeAttestationObject, isoBase64URL } = await helpers()
  const { expected, spend } = expectChallenge('passkey.add', browser)
  const made = await unlessWrong(async () => {
    const response: RegistrationResponseJSON = JSON.parse(answer)
    refuseFrames(response)
    // We ask for no attestation. A statement with certificates would make the library fetch what they name, from anywhere.
    const statement = decodeAttestationObject(isoBase64URL.toBuffer(response.response.attestationObject))
    if (!['none', 'packed'].includes(statement.get('fmt')) || statement.get('attStmt').get('x5c') !== undefined) {
      throw new Error('it has an attestation, which nobody asked for')
    }
    const { id, origin } = relyingParty()
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: expected,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS
    })
    return registrationInfo?.credential
  })
  if (!made || !(await spend())) throw new Invalid('passkey', REFUSED)
  return {
    credential: Buffer.from(made.id, 'base64url'),
    publicKey: Buffer.from(made.publicKey),
    counter: made.counter,
    transports: TRANSPORTS.filter(name => made.transports?.includes(name)).join(',')
  }
}

/** Our pages are never in a frame of another site, but the library lets browsers pass that do not name the site. */
function refuseFrames({ response }: RegistrationResponseJSON | AuthenticationResponseJSON): void {
  const { crossOrigin } = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString())
  if (crossOrigin) throw new Error('it comes from a page in a frame')
}

/** Checks the challenge of an answer while the library reads it, and uses it up once the signature is known to be right. */
function expectChallenge(purpose: Purpose, browser: string) {
  let challenge = ''
  return {
    expected: (text: string) => {
      challenge = text
      return isChallenge(text, purpose, browser)
    },
    spend: () => takeChallenge(challenge)
  }
}

/** The library throws another error for each way in which an answer can be wrong. `check` only calculates. */
async function unlessWrong<T>(check: () => Promise<T>): Promise<T | null> {
  try {
    return await check()
  } catch (error) {
    log().info({ reason: error instanceof Error ? error.message.slice(0, 300) : 'unknown' }, 'passkey refused')
    return null
  }
}

/** Gives a passkey another name. Throws NotFound when the user has no such passkey, and Invalid. */
export function renamePasskey(owner: Owner, id: number, name: string, origin: Origin): Promise<void> {
  const problem = lineProblem(name)
  if (problem) throw new Invalid('name', problem)
  return transact(async () => {
    const before = await requirePasskey(owner.id, id)
    if (before.name === name) return
    await execute('update passkeys set name = ? where id = ?', [name, id])
    await recordChange(
      { owner, action: 'passkey.update', changes: { passkey: { before: before.name, after: name } } },
      origin
    )
  })
}

/** Removes a passkey. Throws NotFound when the user has no such passkey. */
export function removePasskey(owner: Owner, id: number, origin: Origin): Promise<void> {
  return transact(async () => {
    await holdUserAlone(owner.id)
    const { name } = await requirePasskey(owner.id, id)
    await execute('delete from passkeys where id = ?', [id])
    await switchOffWithoutFactors(owner.id)
    const changes = { passkey: { before: name } }
    await recordChange({ owner, action: 'passkey.delete', changes, mail: { what: 'passkey_removed', name } }, origin)
  })
}

async function requirePasskey(userId: number, id: number): Promise<{ readonly name: string }> {
  const found = await row<{ name: string }>('select name from passkeys where id = ? and user_id = ?', [id, userId])
  if (!found) throw new NotFound('Passkey')
  return found
}

export interface Answered {
  readonly purpose: Purpose
  /** What the browser answered, as JSON. */
  readonly answer: string
  readonly browser: string
  /** Whose passkey it must be. Without a user, the passkey must have checked who holds it. */
  readonly userId?: number
}

interface PasskeyRow {
  readonly id: number
  readonly user_id: number
  readonly username: string
  readonly name: string
  readonly credential: Buffer
  readonly public_key: Buffer
}

/** Returns the id of the user whose passkey has signed the challenge; null for any other answer. */
export async function userOfPasskey(answered: Answered, origin: Origin): Promise<number | null> {
  const response = await unlessWrong(async () => JSON.parse(answered.answer))
  const found = await findPasskey(Buffer.from(String(response?.id), 'base64url'))
  if (!found || (answered.userId !== undefined && found.user_id !== answered.userId)) return null
  const { expected, spend } = expectChallenge(answered.purpose, answered.browser)
  const counter = await unlessWrong(() => checkSignature(response, found, expected, answered.userId === undefined))
  if (counter === null || !(await spend())) return null
  return (await moveCounter(found, counter, origin)) ? found.user_id : null
}

/** Returns the counter of a signed answer. Throws when anything in the answer is wrong. */
async function checkSignature(
  response: AuthenticationResponseJSON,
  { user_id, credential, public_key }: PasskeyRow,
  expectedChallenge: (challenge: string) => boolean,
  requireUserVerification: boolean
): Promise<number> {
  const { verifyAuthenticationResponse } = await library()
  refuseFrames(response)
  const { userHandle: handle } = response.response
  if (handle && !Buffer.from(handle, 'base64url').equals(handleOf(user_id))) throw new Error('it is of another user')
  const { id, origin } = relyingParty()
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification,
    // We compare the counter ourselves, once the signature is known to be right.
    credential: { id: credential.toString('base64url'), publicKey: new Uint8Array(public_key), counter: 0 }
  })
  if (!verified) throw new Error('its signature is wrong')
  return authenticationInfo.newCounter
}

const findPasskey = (credential: Buffer): Promise<PasskeyRow | undefined> =>
  row<PasskeyRow>(
    `select p.id, p.user_id, p.name, p.credential, p.public_key, u.username from passkeys p
     join users u on u.id = p.user_id where p.credential = ?`,
    [credential]
  )

/** A counter that does not grow means that a copy of the passkey exists. Passkeys that several devices share always count zero. */
async function moveCounter(
  { id, user_id, username, name }: PasskeyRow,
  counter: number,
  origin: Origin
): Promise<boolean> {
  const { affectedRows } = await execute(
    'update passkeys set counter = ?, last_used_at = ? where id = ? and (counter < ? or (counter = 0 and ? = 0))',
    [counter, new Date(), id, counter, counter]
  )
  if (affectedRows === 1) return true
  log().warn({ user: user_id, passkey: id, counter }, 'the counter of a passkey went back: there may be a copy of it')
  await transact(() =>
    recordChange(
      { owner: { id: user_id, username }, action: 'passkey.refuse', changes: { passkey: { before: name } } },
      origin
    )
  )
  return false
}

// What follows from the answer of a provider: it signs in a known person or a new one, or asks to connect an account first.
import { type ActorUser, actorOf, type Origin, originOf } from '../../../access/actor.js'
import { Conflict, Forbidden, Invalid } from '../../../errors.js'
import { log } from '../../../log.js'
import { describe, isAllowed, isAllowedAddress } from '../../../oidc/claims.js'
import type { Answer } from '../../../oidc/flow.js'
import type { Provider } from '../../../oidc/provider.js'
import { noteUseOf } from '../credentials/last-use.js'
import { noteSignIn } from '../credentials/sign-in-addresses.js'
import { confirmPrimary } from '../users/emails.js'
import { noteAddress } from '../users/identities.js'
import { letIn, mayEnter } from '../users/suspension.js'
import { bringUpToDate } from './bring-up-to-date.js'
import {
  AddressInUse,
  createPerson,
  findByIdentity,
  type IdentityUser,
  type Person,
  updatePerson
} from './provision.js'

/** Either the user who has signed in, or why the person gets no account of their own. */
export type Admission = { readonly user: ActorUser } | { readonly unknown: string }

/**
 * Finds or creates the user of an answer, with the name, rights and memberships that the provider decides. Throws Forbidden with
 * words for the person, who may not enter.
 */
export async function admit(provider: Provider, answer: Answer, address: string): Promise<Admission> {
  const { name, label, settings } = provider
  if (!isAllowed(answer.claims, settings)) throw new Forbidden(`Your account at ${label} may not use this service`)
  const person: Person = { provider: name, externUid: answer.subject, ...describe(answer.claims, settings) }
  const known = await findByIdentity(name, person.externUid)
  if (known) return { user: await enter(known, person, provider, address) }
  const unknown = whyNoAccount(person, provider)
  if (unknown !== null) return { unknown }
  const made = await create(person, provider, address)
  if (typeof made === 'string') return { unknown: made }
  return { user: await enter(made, person, provider, address) }
}

function whyNoAccount({ email, emailVerified }: Person, { label, settings }: Provider): string | null {
  if (!settings.create) return `Nobody here is connected with your account at ${label}`
  if (email === '') return `${label} does not tell your email address, so you get no account here`
  if (!emailVerified) return `${label} has not checked your email address, so you get no account here`
  if (!isAllowedAddress(email, settings)) return 'People with your email address get no account here'
  return null
}

/** Returns the new user, or why there is none. */
async function create(
  person: Person,
  { name, label, settings }: Provider,
  address: string
): Promise<IdentityUser | string> {
  const origin: Origin = { user: null, asker: null, name, actingAs: null, via: 'provider', address }
  let refused: unknown
  try {
    await createPerson(person, { approval: settings.approval }, origin)
  } catch (error) {
    if (error instanceof Invalid) return `${label} describes you in a way that cannot become an account`
    if (!(error instanceof Conflict)) throw error
    refused = error
  }
  // After a conflict too: the same person may have been faster in another tab.
  const made = await findByIdentity(person.provider, person.externUid)
  if (!made && refused instanceof AddressInUse) return 'Somebody here has your email address already'
  if (!made) throw new Conflict('Others took the same name at the same moment: try again')
  return made
}

/**
 * Gives an account what the provider says now. The account follows the address there only while it has the one that the provider gave
 * before: people may have chosen another one here. An address that somebody else has changes nothing.
 */
async function update(
  user: IdentityUser,
  person: Person,
  settings: Provider['settings'],
  origin: Origin
): Promise<void> {
  const { email, emailVerified } = person
  const isNew = email !== '' && emailVerified && email !== user.givenEmail && isAllowedAddress(email, settings)
  const follows = isNew && user.givenEmail?.toLowerCase() === user.email.toLowerCase()
  if (!follows) await updatePerson(user.id, person, origin)
  const problem = follows ? (await bringUpToDate(user, person, origin)).problem : undefined
  if (problem !== undefined) log().warn({ provider: person.provider }, problem)
  else if (isNew) await noteAddress(person, email)
}

async function enter(user: IdentityUser, person: Person, { settings }: Provider, address: string): Promise<ActorUser> {
  await letIn(user, address)
  if (!user.confirmed) {
    if (!person.emailVerified || person.email.toLowerCase() !== user.email.toLowerCase()) {
      throw new Forbidden('Confirm your email address first, by the link in the mail that was sent to it')
    }
    await confirmPrimary(user.id)
  }
  await update(user, person, settings, originOf(actorOf(user, 'provider'), address))
  await noteSignIn(user.id, address)
  noteUseOf(user.id)
  const current = await findByIdentity(person.provider, person.externUid)
  if (!current || !mayEnter(current)) throw new Forbidden('Your account is blocked')
  const { id, username, name, email, admin, external } = current
  return { id, username, name, email, admin, external }
}

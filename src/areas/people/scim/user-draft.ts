// A user between the form of SCIM and the rows.
import { isAddress } from '../users/emails.js'
import { ScimFailure } from './failures.js'
import { type Attributes, type Draft, type Entry, emptyDraft } from './patch.js'
import type { ScimUserRow } from './scim-users.queries.js'

/** Not specified: which attributes are kept. These are the ones that an account here has a use for; the others are accepted and left out. */
export const USER_ATTRIBUTES: Attributes = {
  texts: {
    username: 'userName',
    externalid: 'externalId',
    displayname: 'displayName',
    'name.formatted': 'name.formatted',
    'name.givenname': 'name.givenName',
    'name.familyname': 'name.familyName'
  },
  flags: { active: 'active' },
  lists: { emails: { name: 'emails', parts: ['value', 'type', 'primary'], most: 100 } },
  readOnly: ['id', 'meta', 'groups'],
  ignored: [
    'schemas',
    'nickname',
    'profileurl',
    'title',
    'usertype',
    'preferredlanguage',
    'locale',
    'timezone',
    'password',
    'phonenumbers',
    'ims',
    'photos',
    'addresses',
    'entitlements',
    'roles',
    'x509certificates'
  ]
}

/** What a draft says about a user. */
export interface UserValues {
  readonly userName: string
  readonly externalId: string | null
  readonly displayName: string | null
  readonly formatted: string | null
  readonly givenName: string | null
  readonly familyName: string | null
  /** Undefined when the draft does not say it. */
  readonly active: boolean | undefined
  readonly email: { readonly value: string; readonly type: string } | undefined
}

export const draftOfUser = (user: ScimUserRow): Draft => {
  const draft = emptyDraft()
  const texts = {
    username: user.user_name,
    externalid: user.external_id,
    displayname: user.display_name,
    'name.formatted': user.formatted_name,
    'name.givenname': user.given_name,
    'name.familyname': user.family_name
  }
  for (const [name, value] of Object.entries(texts)) if (value !== null) draft.texts.set(name, value)
  draft.flags.set('active', user.state === 'active')
  const email = { value: user.email, type: user.email_type, primary: true }
  draft.lists.set('emails', new Map([[user.email, email]]))
  return draft
}

/** Returns the values of a draft. Throws ScimFailure for a user without a name or with an address that is not valid. */
export function valuesOf({ texts, flags, lists }: Draft): UserValues {
  const userName = texts.get('username')?.trim()
  if (!userName) throw new ScimFailure('invalidValue', 'userName is missing')
  return {
    userName,
    externalId: texts.get('externalid') ?? null,
    displayName: texts.get('displayname') ?? null,
    formatted: texts.get('name.formatted') ?? null,
    givenName: texts.get('name.givenname') ?? null,
    familyName: texts.get('name.familyname') ?? null,
    active: flags.get('active'),
    email: emailOf([...(lists.get('emails')?.values() ?? [])])
  }
}

/** Not specified: an account has one address from the directory, the primary one, otherwise that of the work, otherwise the first. */
function emailOf(entries: readonly Entry[]): UserValues['email'] {
  const found =
    entries.findLast(({ primary }) => String(primary).toLowerCase() === 'true') ??
    entries.find(({ type }) => type === 'work') ??
    entries[0]
  if (!found) return undefined
  const { value, type } = found as { readonly value: string; readonly type?: unknown }
  if (!isAddress(value)) throw new ScimFailure('invalidValue', 'emails.value is not an address')
  return { value, type: typeof type === 'string' && /^[\w.-]{1,32}$/.test(type) ? type : 'work' }
}

/** Returns the display name of an account. */
export const nameOf = ({ displayName, formatted, givenName, familyName, userName }: UserValues): string =>
  displayName ?? formatted ?? ([givenName, familyName].filter(Boolean).join(' ').slice(0, 255) || userName)

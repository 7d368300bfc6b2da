// The contents of mails about accounts. The texts are in templates/mail.
import type { MailFacts } from '../../../mail/kinds.js'
import type { FactorChange } from '../../ground/activity/account-events.js'
import type { Doer } from '../../ground/activity/authors.js'
import type { Published, Stored } from '../../ground/activity/events.js'

/** The events that the owner of an account always gets mail about. */
type SecurityKind =
  | 'key.added'
  | 'email.added'
  | 'email.changed'
  | 'password.changed'
  | 'token.created'
  | 'sign_in.from_new_address'
  | 'identity.changed'
  | 'second_factor.changed'

type Facts = MailFacts['security']
type Said = Pick<Facts, 'title' | 'details' | 'page'> & { readonly by?: Stored<Doer>; readonly advice: string }

const REMOVE = 'If this was not you, change your password and check'

/** The text of the mail about each event; null when an older version published the event without its owner. */
const SAID: { readonly [Kind in SecurityKind]: (event: Published<Kind>['event']) => Said | null } = {
  'key.added': ({ owner }) =>
    owner
      ? {
          title: 'A new SSH key was added to your account',
          details: [
            ['Title', owner.title],
            ['Fingerprint', `SHA256:${owner.fingerprint}`]
          ],
          by: owner.by,
          advice: `${REMOVE} the SSH keys of your account.`,
          page: '/profile/keys'
        }
      : null,
  'email.added': ({ email, by }) => ({
    title: 'A new email address was added to your account',
    details: [['Address', email.address]],
    by,
    advice: `${REMOVE} the addresses of your account.`,
    page: '/profile/emails'
  }),
  'email.changed': ({ before, after, by }) => ({
    title: 'The email address of your account was changed',
    details: [
      ['Before', before],
      ['Now', after]
    ],
    by,
    advice: 'If this was not you, ask an administrator at once.',
    page: '/profile/emails'
  }),
  'password.changed': ({ by }) => ({
    title: 'The password of your account was changed',
    details: [],
    by,
    advice: 'Your other sessions have ended. If this was not you, set another password at once.',
    // The user may no longer know the password.
    page: '/users/password/new'
  }),
  'token.created': ({ token, by }) => ({
    title:
      token.kind === 'private'
        ? 'Your private token was replaced'
        : 'A personal access token was made for your account',
    details: token.kind === 'private' ? [] : [['Name', token.name]],
    by,
    advice: `${REMOVE} the access tokens of your account.`,
    page: '/profile/personal_access_tokens'
  }),
  'sign_in.from_new_address': ({ address }) => ({
    title: 'Somebody signed in to your account from a new address',
    details: [['Address', address]],
    advice: `If this was not you, change your password and end the other sessions of your account.`,
    page: '/profile/sessions'
  }),
  'identity.changed': ({ linked, provider, externUid, by }) => ({
    title: linked
      ? 'An account at a provider was connected with your account'
      : 'An account at a provider was disconnected from your account',
    details: [
      ['Provider', provider],
      ['Account there', externUid]
    ],
    by,
    advice: `${REMOVE} the connected accounts of your profile.`,
    page: '/profile/identities'
  }),
  'second_factor.changed': ({ change, by }) => ({ ...saidOfFactor(change), by, page: '/profile/two_factor' })
}

const FACTOR = `${REMOVE} the second factors of your account.`

function saidOfFactor(change: FactorChange): Pick<Said, 'title' | 'details' | 'advice'> {
  switch (change.what) {
    case 'app_added':
      return { title: 'An authenticator app was added to your account', details: [], advice: FACTOR }
    case 'app_removed':
      return { title: 'The authenticator app of your account was removed', details: [], advice: FACTOR }
    case 'passkey_added':
      return { title: 'A passkey was added to your account', details: [['Name', change.name]], advice: FACTOR }
    case 'passkey_removed':
      return { title: 'A passkey of your account was removed', details: [['Name', change.name]], advice: FACTOR }
    case 'recovery_codes_renewed':
      return {
        title: 'New recovery codes were made for your account',
        details: [],
        advice: `The old codes do not work any more. ${FACTOR}`
      }
    case 'recovery_code_used':
      return {
        title: 'A recovery code was used to sign in to your account',
        details: [['Codes left', String(change.left)]],
        advice: `${change.left <= FEW_CODES ? 'Make new codes before the last one is used. ' : ''}${FACTOR}`
      }
    case 'reset':
      return {
        title: 'All second factors of your account were removed',
        details: [],
        advice:
          'All your sessions have ended. Set up a second factor again. If you did not ask for this, ask an administrator at once.'
      }
    case 'codes_guessed':
      return {
        title: 'Somebody has entered many wrong codes for your account',
        details: [],
        advice: 'Codes can only be entered after the password. If this was not you, change your password at once.'
      }
  }
}

/** With so many recovery codes left, the mail about a used one asks for new ones. */
const FEW_CODES = 3

/** A published security event. */
export type Security = { readonly [Kind in SecurityKind]: Published<Kind> }[SecurityKind]

/** Returns the facts of the mail about a security event; null when it causes no mail. */
export function securityFacts({ event, at }: Security, username: string): Facts | null {
  const said = (SAID[event.kind] as (event: unknown) => Said | null)(event)
  if (!said) return null
  const { by, ...rest } = said
  return { ...rest, username, at, byAdministrator: by?.foreign ?? false }
}

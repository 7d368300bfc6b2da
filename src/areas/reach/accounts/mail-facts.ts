// The contents of mails about accounts. The texts are in templates/mail.
import type { MailFacts } from '../../../mail/kinds.js'
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
    advice: 'All your sessions have ended. If this was not you, set another password at once.',
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
  })
}

/** A published security event. */
export type Security = { readonly [Kind in SecurityKind]: Published<Kind> }[SecurityKind]

/** Returns the facts of the mail about a security event; null when it causes no mail. */
export function securityFacts({ event, at }: Security, username: string): Facts | null {
  const said = (SAID[event.kind] as (event: unknown) => Said | null)(event)
  if (!said) return null
  const { by, ...rest } = said
  return { ...rest, username, at, byAdministrator: by?.foreign ?? false }
}

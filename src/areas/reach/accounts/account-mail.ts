// Queues mail about changes to accounts and memberships.

import { row } from '../../../db/connect/sql.js'
import { NotFound } from '../../../errors.js'
import { levelName } from '../../../lib/levels.js'
import { requireMirror } from '../../code/mirrors/mirrors.queries.js'
import type { Published, PublishedEvent, Stored } from '../../ground/activity/events.js'
import type { Listener } from '../../ground/activity/listeners.js'
import type { MemberSourceSnapshot } from '../../ground/activity/snapshots.js'
import { findSource } from '../../people/members/sources.js'
import { queueMail } from '../mail/outbox.js'
import { type Unconfirmed, unconfirmed, unconfirmedByAddress } from './confirmations.js'
import { findInvitation } from './invitations/invitations.queries.js'
import { type Security, securityFacts } from './mail-facts.js'
import { type Resettable, resettable, resettableByAddress } from './passwords.js'
import { mayConfirm } from './rate-limits.js'
import {
  administrators,
  approversOf,
  findPending,
  findPerson,
  findReachable,
  furtherAddresses,
  mailedMembers,
  type Person
} from './recipients.queries.js'
import { findSignUp, newestSignUp, type SignUpRow } from './sign-ups.js'

export const accountMail: Listener = {
  name: 'account mail',
  on: {
    'user.created': async told => {
      const { user, mail } = told.event
      if (mail === 'confirmation') return askToConfirm(told, await unconfirmed(user.id, 0))
      if (mail === 'welcome') await welcome(told)
    },
    'key.added': told => secure(told, told.event.owner?.id),
    'password.changed': told => secure(told, told.event.userId),
    'token.created': told => secure(told, told.event.userId),
    'sign_in.from_new_address': told => secure(told, told.event.userId),
    'identity.changed': told => secure(told, told.event.userId),
    'second_factor.changed': told => secure(told, told.event.userId),
    'email.added': async told => {
      const { userId, email, by } = told.event
      await secure(told, userId, await furtherAddresses(userId))
      // A repeated event counts twice against the limit: a mail may then be missing, but none is sent too often.
      if (!by.foreign && !(await mayConfirm(userId, email.address))) return
      await askToConfirm(told, await unconfirmed(userId, email.id))
    },
    'email.changed': async told => {
      const { userId, before, confirmed } = told.event
      // Decided: the old address also gets this mail, because the new one may belong to a thief.
      await secure(told, userId, [before, ...(await furtherAddresses(userId))])
      if (!confirmed) await askToConfirm(told, await unconfirmed(userId, 0))
    },
    'mail.asked': async told => {
      const { what, address } = told.event
      if (what === 'password') return offerPassword(told, await resettableByAddress(address), false)
      for (const found of await unconfirmedByAddress(address)) await askToConfirm(told, found)
      await mailSignUp(told, await newestSignUp(address))
    },
    'password.offered': async told => offerPassword(told, await resettable(told.event.userId), true),
    'sign_up.asked': async told => mailSignUp(told, await findSignUp(told.event.signUpId)),
    'approval.asked': askForApproval,
    'approval.given': async told => {
      const person = await findPerson(told.event.userId)
      if (person) await answerApproval(told, 'given', person)
    },
    'invitation.sent': mailInvitation,
    'mirror.failed': mailMirror,
    'user.dormant': warnOfBlock,
    'approval.denied': told => answerApproval(told, 'denied', { id: null, ...told.event }),
    'member.added': told => mailMember(told, 'added'),
    'member.changed': told => mailMember(told, 'changed'),
    'access.requested': mailRequest,
    'access.denied': mailDenial,
    'project.renamed': mailMove,
    'project.transferred': mailMove
  }
}

async function mailInvitation(told: Published<'invitation.sent'>): Promise<void> {
  const found = await findInvitation(told.event.invitationId)
  const source = found && (await findSource({ type: found.source_type, id: found.source_id }))
  if (!source) return
  await queueMail({
    once: `${told.id} invitation`,
    kind: 'invitation',
    facts: {
      invitationId: found.id,
      by: found.by_name ?? 'An administrator',
      level: levelName(found.access_level),
      until: found.expires_at,
      of: source.type === 'project' ? 'project' : 'group',
      path: source.path
    },
    recipients: [{ userId: null, address: found.address, reason: 'invited' }],
    authorId: found.user_id
  })
}

async function mailMirror(told: Published<'mirror.failed'>): Promise<void> {
  const mirror = await requireMirror(told.event.mirrorId).catch(unlessGone)
  const person = mirror && mirror.user_id !== null ? await findPerson(mirror.user_id) : undefined
  if (!mirror || !person) return
  const { project, url: remote, failures, error } = mirror
  const page = `/${project}/settings/mirrors/${mirror.id}`
  await queueMail({
    once: `${told.id} mirror`,
    kind: 'mirror-failed',
    facts: { name: person.name, project, remote, failures, error: error ?? '', page },
    recipients: [{ userId: person.id, address: person.email, reason: 'mirror' }]
  })
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error
}

async function warnOfBlock(told: Published<'user.dormant'>): Promise<void> {
  const { userId, days, notice } = told.event
  const person = await findPerson(userId)
  if (!person) return
  const { username, name, email } = person
  await queueMail({
    once: `${told.id} dormant`,
    kind: 'account-dormant',
    facts: { username, name, days, notice },
    recipients: [{ userId, address: email, reason: 'dormant' }]
  })
}

async function askForApproval(told: Published<'approval.asked'>): Promise<void> {
  const found = await findPending(told.event.userId)
  if (!found) return
  const { username, name, email } = found
  await queueMail({
    once: `${told.id} approval`,
    kind: 'account-approval',
    facts: { what: 'asked', username, name, email },
    recipients: (await administrators()).map(each => ({
      userId: each.id,
      address: each.email,
      reason: 'administrator'
    }))
  })
}

async function answerApproval(
  told: PublishedEvent,
  what: 'given' | 'denied',
  { id, username, name, email }: Omit<Person, 'id'> & { readonly id: number | null }
): Promise<void> {
  await queueMail({
    once: `${told.id} approval`,
    kind: 'account-approval',
    facts: { what, username, name, email },
    recipients: [{ userId: id, address: email, reason: 'signed_up' }]
  })
}

async function welcome(told: Published<'user.created'>): Promise<void> {
  const person = await findPerson(told.event.user.id)
  if (!person) return
  const { id, username, name, email } = person
  await queueMail({
    once: `${told.id} welcome`,
    kind: 'account-created',
    facts: { username, name },
    recipients: [{ userId: id, address: email, reason: 'account' }]
  })
}

/**
 * Sends the owner of an account a security mail, to the primary address and to others. While the primary address is not
 * confirmed, only the others get it; without others, the primary address gets it anyway, because this mail is always sent.
 */
async function secure(told: Security, userId: number | undefined, others: readonly string[] = []): Promise<void> {
  const person = userId === undefined ? undefined : await findPerson(userId)
  const facts = person && securityFacts(told, person.username)
  if (!facts) return
  const { id, email, confirmed } = person
  const further = confirmed || others.length > 0 ? others : await furtherAddresses(id)
  const kept = further.filter(address => address.toLowerCase() !== email.toLowerCase())
  await queueMail({
    once: `${told.id} security`,
    kind: 'security',
    facts,
    recipients: [
      ...(confirmed || kept.length === 0 ? [{ userId: id, address: email, reason: 'security' }] : []),
      // The old primary address no longer belongs to any user, but gets the mail anyway.
      ...kept.map(address => ({ userId: null, address, reason: 'security' }))
    ],
    always: true
  })
}

async function askToConfirm(told: PublishedEvent, found: Unconfirmed | undefined): Promise<void> {
  if (!found) return
  const { user_id: userId, email_id: emailId, username, name, address, first } = found
  await queueMail({
    once: `${told.id} confirmation`,
    kind: 'address-confirmation',
    facts: { userId, emailId, username, name, address, first: first === 1 },
    recipients: [{ userId, address, reason: 'confirmation' }],
    always: true
  })
}

async function offerPassword(
  told: PublishedEvent,
  found: Resettable | undefined,
  byAdministrator: boolean
): Promise<void> {
  if (!found) return
  const { user_id: userId, username, name, address } = found
  await queueMail({
    once: `${told.id} password`,
    kind: 'password-reset',
    facts: { userId, emailId: 0, username, name, byAdministrator },
    recipients: [{ userId, address, reason: byAdministrator ? 'password_offered' : 'password' }],
    always: true
  })
}

async function mailSignUp(told: PublishedEvent, found: SignUpRow | undefined): Promise<void> {
  if (!found) return
  const { id, username, name, email } = found
  const taken = await row(
    `select 1 from users where email_key = lower(?)
     union all select 1 from emails where email_key = lower(?) and confirmed_at is not null`,
    [email, email]
  )
  await queueMail({
    once: `${told.id} sign-up`,
    kind: taken ? 'sign-up-taken' : 'sign-up',
    facts: { signUpId: id, username, name },
    recipients: [{ userId: null, address: email, reason: 'sign_up' }],
    always: true
  })
}

/** Decided: users get no mail about their own actions. */
async function mailMember(
  told: Published<'member.added'> | Published<'member.changed'>,
  what: 'added' | 'changed'
): Promise<void> {
  const { member, by } = told.event
  if (!by || by.id === member.user.id) return
  const person = await findReachable(member.user.id)
  if (!person) return
  await queueMail({
    once: `${told.id} membership`,
    kind: 'membership',
    facts: { what, by: by.name, level: levelName(member.access_level), ...factsOf(member.source) },
    recipients: [{ userId: person.id, address: person.email, reason: 'membership' }]
  })
}

async function mailRequest(told: Published<'access.requested'>): Promise<void> {
  const { source, user } = told.event
  const approvers = await approversOf(source)
  await queueMail({
    once: `${told.id} request`,
    kind: 'access-request',
    facts: { what: 'requested', by: `${user.name} (${user.username})`, ...factsOf(source) },
    recipients: approvers.map(({ id, email }) => ({ userId: id, address: email, reason: 'approver' }))
  })
}

async function mailDenial(told: Published<'access.denied'>): Promise<void> {
  const { source, userId, by } = told.event
  const person = await findReachable(userId)
  if (!person) return
  await queueMail({
    once: `${told.id} denial`,
    kind: 'access-request',
    facts: { what: 'denied', by: by.name, ...factsOf(source) },
    recipients: [{ userId: person.id, address: person.email, reason: 'requester' }]
  })
}

async function mailMove(told: Published<'project.renamed'> | Published<'project.transferred'>): Promise<void> {
  const { project, old_path_with_namespace: before, by } = told.event
  if (!by) return
  const people = (await mailedMembers(project.id)).filter(({ id }) => id !== by.id)
  const recipients = people.map(({ id, email }) => ({ userId: id, address: email, reason: 'member' }))
  const all = 'moved' in told.event ? told.event.moved : undefined
  if (all) {
    // The events of all its projects queue the same mail, which each person gets once.
    const facts = { name: all.path, before: all.before, path: all.path, by: by.name, all: true }
    return queueMail({ once: `${all.id} move`, kind: 'project-moved', facts, recipients })
  }
  await queueMail({
    once: `${told.id} move`,
    kind: 'project-moved',
    facts: { name: project.name, before, path: project.path_with_namespace, by: by.name },
    list: { projectId: project.id },
    recipients
  })
}

const factsOf = (source: Stored<MemberSourceSnapshot>) => ({
  of: source.type === 'project' ? ('project' as const) : ('group' as const),
  path: source.type === 'project' ? source.path_with_namespace : source.path
})

// A mail as it goes out: what people see, and the headers by which programs thread, filter and end it.
import type { SendMailOptions } from 'nodemailer'
import { config, publicUrl } from '../config.js'
import type { Sender } from './kinds.js'
import { oneLine, type Rendered } from './render.js'

export interface Letter {
  readonly rendered: Rendered
  readonly to: { readonly name: string | null; readonly address: string }
  /** The same in every try, so that a receiver that gets a mail twice can see it. */
  readonly id: string
  /** The name of the conversation, such as `issue_12`. */
  readonly thread: string | null
  readonly reason: string
  /** For mail of a project, which people can end; null for mail that only its recipient gets. */
  readonly list: { readonly projectId: number; readonly path: string } | null
  readonly unsubscribeUrl: string | null
  /** In whose name it comes; the appliance itself without one. The envelope is the appliance's in any case. */
  readonly from?: Sender | null
}

/** Characters of a name before an address. */
const LONGEST_NAME = 100

/** Returns who sends the mails of this appliance. */
export function sender(): Sender {
  return split(config().mail.from ?? `Gitstead <gitstead@${host()}>`)
}

function split(text: string): Sender {
  const [, name, address] = /^([^<]*)<(.*)>$/.exec(text) ?? []
  if (address === undefined) return { name: '', address: text }
  return { name: (name ?? '').trim().replace(/^"(.*)"$/, '$1'), address }
}

/** The host of the appliance, as it stands in addresses and in names of mails: an address of a machine has brackets. */
export function host(): string {
  const { hostname } = new URL(publicUrl())
  return /^\d+(\.\d+){3}$/.test(hostname) ? `[${hostname}]` : hostname
}

/**
 * Tells whether mail may come from an address of somebody else: its domain is that of `mail.from`, of the appliance, or one above
 * that. Servers refuse the mail of others' domains.
 */
export function isOfOwnDomain(address: string): boolean {
  const domain = domainOf(address)
  const own = host()
  if (domain === domainOf(sender().address) || domain === own) return true
  return domain.includes('.') && own.endsWith(`.${domain}`)
}

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

/**
 * Returns the message for nodemailer. Every text is one line when it comes to a header, names are quoted or encoded there,
 * and an address is never read as more than one, because it is not read at all.
 */
export function messageOf({
  rendered,
  to,
  id,
  thread,
  reason,
  list,
  unsubscribeUrl,
  from = null
}: Letter): SendMailOptions {
  const { reply_to: replyTo } = config().mail
  const root = thread === null ? undefined : `<${thread}@${host()}>`
  return {
    from: from ? { name: oneLine(from.name, LONGEST_NAME), address: from.address } : sender(),
    // Of two in From and in the envelope, programs show both.
    ...(from && { sender: sender() }),
    to: { name: oneLine(to.name ?? '', LONGEST_NAME), address: to.address },
    ...(replyTo !== null && !from && { replyTo: split(replyTo) }),
    envelope: { from: sender().address, to: [to.address] },
    subject: rendered.subject,
    text: rendered.text,
    html: rendered.html,
    messageId: `<${id}@${host()}>`,
    // Nobody has a mail with the name of the root. Programs thread by it all the same, whichever mail somebody got first.
    ...(root !== undefined && { inReplyTo: root, references: root }),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'X-Gitstead-Reason': oneLine(reason, LONGEST_NAME),
      ...(list && { Precedence: 'list' }),
      ...(unsubscribeUrl !== null && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' })
    },
    list: {
      ...(list && { id: { url: `${list.projectId}.project.${host()}`, comment: oneLine(list.path, LONGEST_NAME) } }),
      ...(unsubscribeUrl !== null && { unsubscribe: { url: unsubscribeUrl } })
    },
    disableFileAccess: true,
    disableUrlAccess: true
  }
}

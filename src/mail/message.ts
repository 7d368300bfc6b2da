// A complete mail: the visible parts, and the headers that programs use to thread, filter and unsubscribe.
import type { SendMailOptions } from 'nodemailer'
import { config, publicUrl } from '../config.js'
import type { Sender } from './kinds.js'
import { oneLine, type Rendered } from './render.js'

export interface Letter {
  readonly rendered: Rendered
  readonly to: { readonly name: string | null; readonly address: string }
  /** The same in every try, so that a receiver can detect a duplicate. */
  readonly id: string
  /** The name of the conversation, such as `issue_12`. */
  readonly thread: string | null
  readonly reason: string
  /** For mail about a project, which people can unsubscribe from; null for mail to one recipient only. */
  readonly list: { readonly projectId: number; readonly path: string } | null
  readonly unsubscribeUrl: string | null
  /** The apparent sender; without one, the appliance. The envelope always names the appliance. */
  readonly from?: Sender | null
  /** Where a reply of this recipient becomes a comment; null for the address of the configuration. */
  readonly replyTo?: string | null
  /** The name of the person who caused the mail. From shows it with the address of the appliance. */
  readonly author?: string | null
}

/** The limit of characters of a name before an address. */
const LONGEST_NAME = 100

/** Returns the sender of the mails of this appliance. */
function sender(): Sender {
  return split(config().mail.from ?? `Gitstead <gitstead@${host()}>`)
}

function split(text: string): Sender {
  const [, name, address] = /^([^<]*)<(.*)>$/.exec(text) ?? []
  if (address === undefined) return { name: '', address: text }
  return { name: (name ?? '').trim().replace(/^"(.*)"$/, '$1'), address }
}

/** The host of the appliance, as it appears in addresses and names of mails: a numeric address has brackets. */
export function host(): string {
  const { hostname } = new URL(publicUrl())
  return /^\d+(\.\d+){3}$/.test(hostname) ? `[${hostname}]` : hostname
}

/**
 * Returns whether mail may use another person's address: its domain is that of `mail.from`, that of the appliance, or a parent of
 * that. Servers refuse mail from foreign domains.
 */
export function isOfOwnDomain(address: string): boolean {
  const domain = domainOf(address)
  const own = host()
  if (domain === domainOf(sender().address) || domain === own) return true
  return domain.includes('.') && own.endsWith(`.${domain}`)
}

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

/**
 * Returns the message for nodemailer. Every text becomes one line in a header, and names are quoted or encoded there. An address
 * is never read as more than one, because it is not parsed at all.
 */
export function messageOf({
  rendered,
  to,
  id,
  thread,
  reason,
  list,
  unsubscribeUrl,
  from = null,
  replyTo: ownReply = null,
  author = null
}: Letter): SendMailOptions {
  const { reply_to: replyTo } = config().mail
  const root = thread === null ? undefined : `<${thread}@${host()}>`
  return {
    from: from
      ? { name: oneLine(from.name, LONGEST_NAME), address: from.address }
      : { ...sender(), ...(author && { name: oneLine(author, LONGEST_NAME) }) },
    // When From and the envelope differ, programs show both.
    ...(from && { sender: sender() }),
    to: { name: oneLine(to.name ?? '', LONGEST_NAME), address: to.address },
    ...(ownReply !== null
      ? { replyTo: { name: oneLine(list?.path ?? '', LONGEST_NAME), address: ownReply } }
      : replyTo !== null && !from && { replyTo: split(replyTo) }),
    envelope: { from: sender().address, to: [to.address] },
    subject: rendered.subject,
    text: rendered.text,
    html: rendered.html,
    messageId: `<${id}@${host()}>`,
    // No mail has the name of the root. Programs still thread by it, whichever mail arrived first.
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

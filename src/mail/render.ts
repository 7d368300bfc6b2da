// Renders mails from templates/mail with Eta, which escapes every value in HTML. Most filters and some people read the text part,
// so it has its own template and is not derived from the HTML.
import { join } from 'node:path'
import { Eta } from 'eta'
import { root } from '../config.js'
import type { MailFacts, MailKind } from './kinds.js'
import { reasonText } from './reasons.js'

/** What a template gets as `it`. */
export interface Shown<Kind extends MailKind = MailKind> {
  readonly facts: MailFacts[Kind]
  /** What was made when the mail was rendered, such as signed links, and `html`: a Markdown text of the facts as HTML. */
  readonly filled: Readonly<Record<string, unknown>>
  /** The URL of the appliance, without a trailing slash. */
  readonly url: string
  /** `name` is null for an address without a user. */
  readonly recipient: { readonly name: string | null; readonly address: string }
  /** The name of the reason (reasons.ts). */
  readonly reason: string
  /** Ends mails like this one; null when the recipient cannot unsubscribe. */
  readonly unsubscribeUrl: string | null
  /** Whether a reply becomes a comment. */
  readonly canReply?: boolean
}

export interface Rendered {
  readonly subject: string
  readonly text: string
  readonly html: string
}

const views = join(root, 'templates/mail')
/** In a text, every line end counts: `-%>` at the end of a line omits it. */
const texts = new Eta({ views, cache: true, autoEscape: false, autoTrim: false })
const pages = new Eta({ views, cache: true })

/** The limit of characters of a subject. Longer ones are cut and end with three dots. */
const LONGEST_SUBJECT = 200

/** Returns the parts of a mail. Throws when a template lacks a fact. */
export function render(kind: MailKind, it: Shown): Rendered {
  const { subject, body } = renderText(kind, it)
  const layout = { ...it, subject, because: reasonText(it.reason) }
  return {
    subject,
    text: texts.render('./layout.txt.eta', { ...layout, body }),
    html: pages.render('./layout.html.eta', { ...layout, body: pages.render(`./${kind}.html.eta`, it) })
  }
}

/** Returns the subject and the text without the layout. */
export function renderText(kind: MailKind, it: Shown): { readonly subject: string; readonly body: string } {
  const [first = '', ...rest] = texts.render(`./${kind}.txt.eta`, it).split('\n')
  return { subject: oneLine(first, LONGEST_SUBJECT), body: rest.join('\n').trim() }
}

/**
 * Returns a text for a header: without line ends and other control characters, which would end the header, without marks that turn
 * the direction of writing, and of limited length.
 */
export function oneLine(text: string, most: number): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length > most ? `${characters.slice(0, most - 3).join('')}...` : line
}

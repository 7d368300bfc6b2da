// Mails from templates/mail, by Eta, which escapes every value in HTML. The text is the part that most filters and some
// people read, so it is written by hand as well, and never made of the HTML.
import { join } from 'node:path'
import { Eta } from 'eta'
import { root } from '../config.js'
import type { MailFacts, MailKind } from './kinds.js'
import { reasonText } from './reasons.js'

/** What a template finds in `it`. */
export interface Shown<Kind extends MailKind = MailKind> {
  readonly facts: MailFacts[Kind]
  /** What was made for this one recipient when the mail was rendered, such as signed links. */
  readonly filled: Readonly<Record<string, unknown>>
  /** The URL of the appliance, without a slash at its end. */
  readonly url: string
  /** `name` is null for an address that is no user's. */
  readonly recipient: { readonly name: string | null; readonly address: string }
  /** The name of the reason (reasons.ts). */
  readonly reason: string
  /** Ends mails like this one; null when nothing does. */
  readonly unsubscribeUrl: string | null
}

export interface Rendered {
  readonly subject: string
  readonly text: string
  readonly html: string
}

const views = join(root, 'templates/mail')
/** In a text every line end stands: `-%>` at the end of a line leaves it out. */
const texts = new Eta({ views, cache: true, autoEscape: false, autoTrim: false })
const pages = new Eta({ views, cache: true })

/** Characters of a subject. More are cut, with three dots. */
const LONGEST_SUBJECT = 200

/** Returns the parts of a mail. Throws when a template finds no fact that it shows. */
export function render(kind: MailKind, it: Shown): Rendered {
  const { subject, body } = renderText(kind, it)
  const layout = { ...it, subject, because: reasonText(it.reason) }
  return {
    subject,
    text: texts.render('./layout.txt.eta', { ...layout, body }),
    html: pages.render('./layout.html.eta', { ...layout, body: pages.render(`./${kind}.html.eta`, it) })
  }
}

/** Returns the subject and the text without what the layout says. */
export function renderText(kind: MailKind, it: Shown): { readonly subject: string; readonly body: string } {
  const [first = '', ...rest] = texts.render(`./${kind}.txt.eta`, it).split('\n')
  return { subject: oneLine(first, LONGEST_SUBJECT), body: rest.join('\n').trim() }
}

/** Returns a text for a header: without line ends and other control characters, which would end it, and not too long. */
export function oneLine(text: string, most: number): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length > most ? `${characters.slice(0, most - 3).join('')}...` : line
}

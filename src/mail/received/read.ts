// Reads a received mail. Everything in it was written by strangers, so all of it is bounded.
import { createHash } from 'node:crypto'
import { simpleParser } from 'mailparser'
import { BadRequest, TooLarge } from '../../errors.js'
import { host } from '../message.js'
import { whyAutomatic } from './automatic.js'

/** Bytes of a whole mail. Base64 adds a third to attachments. */
const LARGEST = 33_554_432
const MOST_PARTS = 200
/** Characters of an HTML part that is read when there is no text. */
const LONGEST_HTML = 1_048_576
const MOST_ADDRESSES = 100
/** Parts that programs add and no person attaches. */
const SIGNATURES = /^application\/(pgp-signature|(x-)?pkcs7-signature)$/i

export interface Attached {
  readonly name: string
  readonly content: Buffer
}

export interface ReceivedMail {
  readonly subject: string
  /** In lower case; null when From is not exactly one address. */
  readonly from: string | null
  /** All addresses of the recipients that its headers name, in lower case. */
  readonly recipients: readonly string[]
  /** The same for each delivery of one mail. */
  readonly identity: Buffer
  /** Why no person wrote it; null for mail of a person. */
  readonly automatic: string | null
  readonly text: string
  readonly attachments: readonly Attached[]
}

/** Throws TooLarge. Reads to the end in any case: the mail server must be able to write all of it. */
export async function readBytes(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size <= LARGEST) chunks.push(Buffer.from(chunk))
  }
  if (size > LARGEST) throw new TooLarge(`the mail has more than ${LARGEST} bytes`)
  return Buffer.concat(chunks)
}

/** Throws BadRequest for bytes that are not a mail, or that exceed a limit. */
export async function readMail(bytes: Buffer, sender?: string): Promise<ReceivedMail> {
  const mail = await simpleParser(bytes, {
    skipTextToHtml: true,
    skipImageLinks: true,
    keepCidLinks: true,
    checksumAlgo: false,
    ignoreEmbedded: true,
    maxHtmlLengthToParse: LONGEST_HTML,
    maxChildNodes: MOST_PARTS
  }).catch((error: Error) => {
    throw new BadRequest(`the mail cannot be read: ${error.message}`)
  })
  if (!mail.headers?.has('from')) throw new BadRequest('the mail has no From')
  if (mail.textConversionError && !mail.text)
    throw new BadRequest('the HTML of the mail is too long, and it has no text')
  const raw = (name: string) => {
    const line = mail.headerLines.find(({ key }) => key === name)?.line
    return line
      ?.slice(line.indexOf(':') + 1)
      .replace(/\s+/g, ' ')
      .trim()
  }
  const addresses = (name: string) => addressesIn(mail.headers.get(name))
  const names = ['delivered-to', 'x-original-to', 'envelope-to', 'to', 'cc']
  return {
    subject: mail.subject ?? '',
    from: isOneAddress(mail.headerLines) ? (addresses('from')[0] ?? null) : null,
    recipients: names.flatMap(addresses).slice(0, MOST_ADDRESSES),
    identity: createHash('sha256')
      .update(mail.messageId ?? bytes)
      .digest(),
    automatic: whyAutomatic(mail.headers, raw, sender) ?? whyOurs(raw('list-id'), mail.messageId),
    text: mail.text ?? '',
    attachments: mail.attachments
      .filter(({ contentType }) => !SIGNATURES.test(contentType))
      .map(({ filename, contentType, content }) => ({ name: filename ?? nameOf(contentType), content }))
  }
}

/** A mail of this appliance that came back. */
function whyOurs(listId = '', messageId = ''): string | null {
  const own = host().toLowerCase()
  if (listId.toLowerCase().includes(`.project.${own}>`)) return 'List-Id of this appliance'
  return OURS.test(messageId) && messageId.toLowerCase().endsWith(`@${own}>`) ? 'Message-ID of this appliance' : null
}

/** The Message-ID of our mails (areas/reach/mail/send.ts). */
const OURS = /^<\d{8}T\d{6}Z\.\d+\.[0-9a-z]+@/

const nameOf = (type: string) => `attachment.${/^image\/(png|jpeg|gif|webp)$/.exec(type)?.[1] ?? 'bin'}`

/** A name, in which quoted texts and comments are whole; then an address in angle brackets, or just an address. */
const ADDRESS = String.raw`[^\s<>()[\]:;@\\,"]+@[^\s<>()[\]:;@\\,"]+`
const NAME = String.raw`(?:"(?:[^"\\]|\\["\\])*"|\([^()\\]*\)|[^<>()[\]:;@\\,"])*`
const COMMENT = String.raw`(?:\([^()\\]*\)|\s)*`
const ONE_ADDRESS = new RegExp(`^(?:${NAME}<${ADDRESS}>|\\s*${ADDRESS})${COMMENT}$`)
const LONGEST_FROM = 2000

/**
 * The mail server checks the sender by From. Programs disagree about the sender when there are several From, several addresses, or
 * forms that nobody writes any more, so those count as no sender.
 */
function isOneAddress(lines: readonly { readonly key: string; readonly line: string }[]): boolean {
  const [only, ...more] = lines.filter(({ key }) => key === 'from')
  if (!only || more.length > 0 || only.line.length > LONGEST_FROM) return false
  return ONE_ADDRESS.test(only.line.slice(only.line.indexOf(':') + 1))
}

/** The addresses of a header. One that occurs several times is a list; some headers are plain texts. */
function addressesIn(value: unknown): string[] {
  if (typeof value === 'string') return value.toLowerCase().match(/[^\s<>,;"]+@[^\s<>,;"]+/g) ?? []
  return [value].flat().flatMap(each => {
    if (typeof each === 'string') return addressesIn(each)
    const { value: list = [] } = (each ?? {}) as { value?: { address?: string; group?: { address?: string }[] }[] }
    return list
      .flatMap(({ address, group = [] }) => [address, ...group.map(one => one.address)])
      .flatMap(one => one?.toLowerCase() ?? [])
  })
}

// The addresses to which people reply by mail. Each is for one user and one record, and is signed, so nobody can make the address
// of another user. It survives programs that change the case of addresses.
import { timingSafeEqual } from 'node:crypto'
import { config } from '../../../config.js'
import type { ReplySubject } from '../../../mail/kinds.js'
import { signature } from '../../../secrets.js'

/** The first character of a token is its version. */
const VERSION = '1'
const LETTERS = { i: 'Issue', m: 'MergeRequest', s: 'Snippet', c: 'Commit' } as const
type Letter = keyof typeof LETTERS
/** 96 bits: a longer signature would leave too few of the 64 characters before the @. */
const SIGNATURE = 24
const TOKEN = new RegExp(
  `\\+${VERSION}([${Object.keys(LETTERS).join('')}])_([0-9a-z]{1,7})_([0-9a-z]{1,7})_([0-9a-f]{${SIGNATURE}})@`
)

export interface ReplyTicket {
  readonly userId: number
  readonly subject: ReplySubject
}

/** Returns where a user replies to a record; null when mail.incoming is not set. */
export function replyAddress(userId: number, { type, id }: ReplySubject): string | null {
  const { incoming } = config().mail
  if (incoming === null) return null
  const letter = (Object.keys(LETTERS) as Letter[]).find(each => LETTERS[each] === type)
  const body = `${VERSION}${letter}_${userId.toString(36)}_${id.toString(36)}`
  return incoming.replace('+@', `+${body}_${signatureOf(body)}@`)
}

/**
 * Returns what an address is for; null when it is not one of ours. Not specified: the part before the + and the domain are not
 * compared, so old addresses stay valid when mail.incoming changes.
 */
export function readReplyAddress(address: string): ReplyTicket | null {
  const [, letter, user, record, signed] = TOKEN.exec(address.toLowerCase()) ?? []
  if (letter === undefined || user === undefined || record === undefined || signed === undefined) return null
  const expected = signatureOf(`${VERSION}${letter}_${user}_${record}`)
  if (!timingSafeEqual(Buffer.from(signed), Buffer.from(expected))) return null
  return {
    userId: Number.parseInt(user, 36),
    subject: { type: LETTERS[letter as Letter], id: Number.parseInt(record, 36) }
  }
}

const signatureOf = (body: string): string => signature('reply address', body).toString('hex').slice(0, SIGNATURE)

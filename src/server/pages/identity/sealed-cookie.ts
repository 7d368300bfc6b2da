// Cookies with values that only this appliance can read and write, for the minutes in which the browser is elsewhere. They cost the
// server nothing, no matter how many browsers never come back.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Undecryptable } from '../../../errors.js'
import { decrypt, encrypt } from '../../../secrets.js'
import { cookieOptions } from '../open-form.js'

/** Browsers refuse larger cookies. */
const LARGEST = 3800

export interface Sealed<Value> {
  readonly name: string
  readonly minutes: number
  /** Never used: it gives the value its type. */
  readonly of?: Value
}

interface Content {
  /** The name of the cookie, so that no other encrypted text of this appliance counts as one. */
  readonly sealed: string
  readonly until: number
  readonly value: unknown
}

/** Returns false when the value is too large for a cookie. */
export function seal<Value>(reply: FastifyReply, { name, minutes }: Sealed<Value>, value: Value): boolean {
  const until = Date.now() + minutes * 60_000
  const text = encrypt(JSON.stringify({ sealed: name, until, value } satisfies Content)).toString('base64url')
  if (text.length > LARGEST) return false
  reply.setCookie(name, text, { ...cookieOptions(), maxAge: minutes * 60 })
  return true
}

/** Returns the value of a cookie; undefined when there is none, it is not ours, or it is too old. */
export function unseal<Value>({ cookies }: FastifyRequest, { name }: Sealed<Value>): Value | undefined {
  const text = cookies[name]
  if (text === undefined || text.length > LARGEST) return undefined
  try {
    const { sealed, until, value } = JSON.parse(decrypt(Buffer.from(text, 'base64url'))) as Content
    return sealed === name && until > Date.now() ? (value as Value) : undefined
  } catch (error) {
    if (error instanceof Undecryptable || error instanceof SyntaxError) return undefined
    throw error
  }
}

export const unset = (reply: FastifyReply, { name }: Sealed<unknown>): FastifyReply =>
  reply.clearCookie(name, { path: '/' })

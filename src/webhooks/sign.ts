// Makes signatures in the form of Standard Webhooks: https://www.standardwebhooks.com
import { createHmac } from 'node:crypto'

const prefix = 'whsec_'

/** The value of `webhook-signature`: `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. */
export function sign(message: { id: string; timestamp: Date; body: string | Buffer; token: string }): string {
  const digest = createHmac('sha256', signingKey(message.token))
    .update(`${message.id}.${unixSeconds(message.timestamp)}.`)
    .update(message.body)
    .digest('base64')
  return `v1,${digest}`
}

/** Whole seconds since 1970, for `webhook-timestamp`. */
export function unixSeconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000)
}

/** If the token is `whsec_` followed by base64, the decoded bytes; otherwise the bytes of the token itself. */
function signingKey(token: string): Buffer {
  const encoded = token.slice(prefix.length)
  if (!token.startsWith(prefix) || !/^[A-Za-z0-9+/]{2,}={0,2}$/.test(encoded)) return Buffer.from(token)
  return Buffer.from(encoded, 'base64')
}

// The address of another appliance, and the token that commands send to it.
import { type Failure, Misconfigured, Unavailable } from '../../errors.js'

const LONGEST_TOKEN = 500
/** The error codes of Node.js when it does not trust a certificate. */
const TLS = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ALTNAME/

/** Returns the URL of --url without a slash at its end. Throws Misconfigured when it cannot be the URL of an appliance. */
export function remoteBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new Misconfigured('--url must be an http or https URL without a username, a password, a query or a fragment')
  }
  return url.href.replace(/\/+$/, '')
}

/** Throws Misconfigured when a header cannot hold the token. */
export function requireSendable(token: string): void {
  if (/^[\x21-\x7e]+$/.test(token) && token.length <= LONGEST_TOKEN) return
  throw new Misconfigured('the token is not valid: it contains a space or another invalid character, or is too long')
}

/** Returns the error for a request that got no response. */
export function notConnected(base: string, error: unknown): Failure {
  const { code = '', message = '' } = ((error as Error).cause ?? error) as { code?: string; message?: string }
  if (TLS.test(code)) return new Misconfigured(`${base}: this machine does not trust its certificate (${code})`)
  return new Unavailable(`${base} does not answer (${code || message})`)
}

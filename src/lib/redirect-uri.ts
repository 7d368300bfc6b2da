// The URIs to which an OAuth application may redirect browsers, with the code in the query.

const LONGEST = 2000
/** Schemes that a browser runs or opens itself instead of passing the code to an application. */
const OWN = /^(javascript|data|vbscript|file|blob|about|urn|ws|wss|ftp|view-source):/i

/** Returns what is wrong with a redirect URI, or null when an application may have it. */
export function redirectUriProblem(uri: string): string | null {
  if (uri.length > LONGEST) return `is longer than ${LONGEST} characters`
  if (!/^[\x21-\x7e]+$/.test(uri) || /[\\<>"]/.test(uri)) return 'has characters that a URI cannot have'
  if (uri.includes('#')) return 'cannot contain a fragment'
  if (!/^[a-z][a-z0-9+.-]*:/i.test(uri) || !URL.canParse(uri)) return 'must be an absolute URI'
  if (OWN.test(uri)) return `cannot have the scheme ${uri.slice(0, uri.indexOf(':'))}`
  if (/^https?:/i.test(uri))
    return /^https?:\/\/[^/?]/i.test(uri) && !hasPassword(uri) ? null : 'must be an absolute URI'
  return null
}

const hasPassword = (uri: string) => {
  const { username, password } = new URL(uri)
  return username !== '' || password !== ''
}

/** Adds parameters to the query of a URI, which otherwise stays unchanged. Omits parameters without a value. */
export function withParameters(uri: string, parameters: { readonly [name: string]: string | undefined }): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(given)}`
}

export interface BasicCredentials {
  readonly user: string
  readonly password: string
}

/** Parses the credentials of an HTTP Basic Authorization header. Returns null for any other header. */
export function parseBasic(header: string | undefined): BasicCredentials | null {
  const found = /^basic\s+(.+)$/i.exec(header ?? '')
  if (!found?.[1]) return null
  const text = Buffer.from(found[1], 'base64').toString('utf8')
  const at = text.indexOf(':')
  return at === -1 ? { user: text, password: '' } : { user: text.slice(0, at), password: text.slice(at + 1) }
}

// Checks the form of a hook's URL. Each delivery checks its target, because names and settings change.

const LONGEST = 2000

/** Why a hook cannot have this URL, or null when it can. */
export function checkHookUrl(url: string): string | null {
  if (url.length > LONGEST) return `is longer than ${LONGEST} characters`
  // The URL parser silently drops or encodes these characters. Then the stored URL would differ from the one we call.
  if (/[\p{Cc}\s\\]/u.test(url)) return 'has spaces, backslashes or control characters'
  if (!/^https?:\/\//i.test(url)) return 'is not an http or https URL'
  // Without this, http:///name would be read as http://name.
  if (!/^https?:\/\/[^/?#]/i.test(url) || !URL.canParse(url)) return 'has no valid host'
  return null
}

/**
 * The URL without its password, for the record of the hook, which only people who may edit the hook see. A user without a
 * password is itself the secret: many receivers accept a token there.
 */
export function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return url
  const parsed = new URL(url)
  if (parsed.username === '' && parsed.password === '') return url
  if (parsed.password === '') parsed.username = 'redacted'
  else parsed.password = 'redacted'
  return parsed.href
}

/** The receiver of a hook for a dashboard: the URL without user, password and query. Many receivers accept their token there. */
export function receiverOf(url: string): string {
  if (!URL.canParse(url)) return '(not a URL)'
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

/**
 * The URL for everybody else: logs, the audit, lists and dashboards. It has neither the password nor the values of the query,
 * because receivers accept tokens there as well (`?token=...`). A parameter without a name is a value.
 */
export function shownUrl(url: string): string {
  const [, path = '', query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(withoutPassword(url)) ?? []
  const hidden = query
    ?.slice(1)
    .split('&')
    .map(parameter => parameter.replace(/(?<=^[^=]*=|^(?!.*=)).+$/s, 'redacted'))
    .join('&')
  return `${path}${hidden === undefined ? '' : `?${hidden}`}${fragment === undefined ? '' : '#redacted'}`
}

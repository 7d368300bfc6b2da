// Limits sign-ups to certain mail domains. Administrators, and users who add an address, may use any domain.
import { domainToASCII, domainToUnicode } from 'node:url'
import type { Settings } from '../../ground/settings/settings.table.js'

type Lists = Pick<Settings, 'domain_whitelist' | 'domain_blacklist_enabled' | 'domain_blacklist'>

/** Returns why nobody may sign up with this address; null when people may. Both lists count, and the black one comes first. */
export function domainProblem(address: string, lists: Lists): string | null {
  const spellings = spellingsOf(address.slice(address.lastIndexOf('@') + 1))
  const among = (list: readonly string[]) =>
    list.some(pattern => spellings.some(domain => fits(domain, pattern.toLowerCase().normalize('NFC'))))
  if (lists.domain_blacklist_enabled && among(lists.domain_blacklist)) return 'is not from an allowed domain'
  const { domain_whitelist: white } = lists
  // Not specified: an empty list allows all domains, as null does.
  if (white && white.length > 0 && !among(white)) return 'domain is not authorized for sign-up'
  return null
}

/** A domain with letters beyond ASCII has two spellings. A trailing dot has no meaning. */
function spellingsOf(domain: string): string[] {
  const plain = domain.replace(/\.+$/, '').toLowerCase().normalize('NFC')
  return [plain, domainToASCII(plain), domainToUnicode(domainToASCII(plain))]
}

/** `*` matches any text. The comparison goes part by part, so that no pattern takes long. */
function fits(domain: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return domain === first
  if (domain.length < first.length + last.length || !domain.startsWith(first) || !domain.endsWith(last)) return false
  const end = domain.length - last.length
  let at = first.length
  for (const part of rest) {
    const found = domain.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

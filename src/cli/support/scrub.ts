// Removes secrets from texts of a support bundle. The bundle contains only known fields; this is for secrets inside of their values.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { config, reportConfig } from '../../config.js'
import { percentDecoded } from '../../lib/percent.js'
import { withoutPasswords } from '../../lib/rules.js'

const REMOVED = '[removed]'

/** Shorter secrets would remove ordinary words, and nobody should use them. */
const SHORTEST = 4
/** A word with letters and digits that is as long as this looks like a token, a key or a hash. */
const TOKEN = /[\w+=-]{16,}/g
const CREDENTIAL = /((?:token|password|passwd|secret|key|authorization|cookie)["']?\s*[=:]\s*)[^\s&"',]+/gi
const SCHEME = /\b(bearer|basic)\s+\S+/gi

/** Returns a function that removes the secrets of this home, and whatever looks like a token, from a text. */
export function scrubber(): (text: string) => string {
  const known = knownSecrets()
  const { home } = config()
  return text => {
    let clean = text
    for (const secret of known) clean = clean.replaceAll(secret, REMOVED)
    const plain = withoutPasswords(clean).replace(SCHEME, `$1 ${REMOVED}`).replace(CREDENTIAL, `$1${REMOVED}`)
    // The path of the home may look like a token.
    return plain.split(home).map(withoutTokens).join(home)
  }
}

const withoutTokens = (text: string) =>
  text.replace(TOKEN, word => (/\d/.test(word) && /[a-z]/i.test(word) ? REMOVED : word))

/** Whether a setting holds a secret. Its value is not in the bundle, and is removed wherever else it appears. */
export const isSecret = (key: string): boolean =>
  /(password|secret_access_key|access_key_id|smtp\.user)$/.test(key) || /^database\.(read_)?url$/.test(key)

/** Longest first, because one may contain another. */
function knownSecrets(): string[] {
  const { home } = config()
  const values = reportConfig({ home }).settings.flatMap(({ key, value }) => (isSecret(key) ? [value] : []))
  const { url, read_url: readUrl } = config().database
  const passwords = [url, readUrl].flatMap(each => (each === null ? [] : [new URL(each).password]))
  // Not the user name of a URL: it is often a word such as `gitstead`, which is all over the bundle.
  const texts = [...values, ...secretsOfHome(home), ...passwords]
    .filter(value => typeof value === 'string')
    .flatMap(text => [text, percentDecoded(text), encodeURIComponent(text), JSON.stringify(text).slice(1, -1)])
  return [...new Set(texts)].filter(({ length }) => length >= SHORTEST).sort((a, b) => b.length - a.length)
}

function secretsOfHome(home: string): unknown[] {
  try {
    return Object.values(JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8')) as object)
  } catch {
    return []
  }
}

// Parses query strings and forms as API clients write them: `a=1`, `a[]=1&a[]=2`, `a[key]=1`, `a[][key]=1&a[][other]=2`.
import { isUtf8 } from 'node:buffer'

type FormMap = { [key: string]: string }
type FormValue = string | (string | FormMap)[] | FormMap
export type Form = { [key: string]: FormValue }

const LIMIT = 1000

/** Returns whether `text` has more pairs than `parseForm` reads. */
export const hasMorePairs = (text: string): boolean => text.split('&', LIMIT + 1).length > LIMIT

/**
 * Parses `text` and drops all pairs after the first 1,000. Keys are own properties of objects without a prototype.
 * Escapes that are not UTF-8 stay unchanged. `refuse` is called for them, and may throw.
 */
export function parseForm(text: string, refuse?: () => never): Form {
  const form: Form = Object.create(null) as Form
  for (const pair of text.split('&', LIMIT)) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    const key = decode(at === -1 ? pair : pair.slice(0, at), refuse)
    addPair(form, key, at === -1 ? '' : decode(pair.slice(at + 1), refuse))
  }
  return form
}

/** Adds one pair to `form`. The key is `name`, `name[]`, `name[key]` or `name[][key]`. */
export function addPair(form: Form, key: string, value: string): void {
  const open = key.indexOf('[')
  if (open <= 0 || !key.endsWith(']')) {
    form[key] = value
    return
  }
  const name = key.slice(0, open)
  const inner = key.slice(open + 1, -1)
  const known = form[name]
  if (inner === '') {
    if (Array.isArray(known)) known.push(value)
    else form[name] = [value]
    return
  }
  if (inner.startsWith('][')) {
    form[name] = addToLast(Array.isArray(known) ? known : [], inner.slice(2), value)
    return
  }
  const map = typeof known === 'object' && !Array.isArray(known) ? known : (Object.create(null) as FormMap)
  map[inner] = value
  form[name] = map
}

/** Adds a value to a list of objects. When the last object already has the key, a new object begins. */
function addToLast(list: (string | FormMap)[], key: string, value: string): (string | FormMap)[] {
  const last = list.at(-1)
  if (typeof last === 'object' && !(key in last)) last[key] = value
  else list.push(Object.assign(Object.create(null) as FormMap, { [key]: value }))
  return list
}

function decode(text: string, refuse?: () => never): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    // A lone percent sign is text: people write `title=50% done`.
    if (refuse && !escapesAreText(spaced)) refuse()
    return spaced
  }
}

/** Returns whether the bytes of all percent escapes are UTF-8. */
const escapesAreText = (text: string): boolean =>
  (text.match(/(?:%[0-9a-f]{2})+/gi) ?? []).every(run => isUtf8(Buffer.from(run.replaceAll('%', ''), 'hex')))

// Makes the body of a delivery. A body that is too large loses parts of its longest fields before it is stored, and lists
// them in `shortened`. JSON that is cut at any other place would no longer be JSON.

/** Bytes of the largest body. Receivers often refuse a body of more than 1 MiB, the default limit of nginx. */
export const BODY_LIMIT = 1_000_000

/** Characters of a text, and items of a list, in the first try. Each further try halves both. */
const TEXT = BODY_LIMIT / 2
const ITEMS = 8192
/** References, names and URLs are shorter than this, and stay whole: half of one would be wrong. */
const SHORTEST_TEXT = 4096

interface Limits {
  readonly text: number
  readonly items: number
}

/**
 * Returns the JSON of a payload, at most BODY_LIMIT bytes. If fields had to be shortened, `shortened` lists their paths,
 * such as `commits.3.message`, together with those that the payload itself lists.
 */
export function hookBody(payload: object): string {
  const whole = JSON.stringify(payload)
  if (Buffer.byteLength(whole) <= BODY_LIMIT) return whole
  // Parses the JSON, because a value such as a Date has another form there.
  const stored = JSON.parse(whole) as { readonly shortened?: readonly string[] }
  for (let share = 1; share <= ITEMS * 2; share *= 2) {
    const paths = new Set(stored.shortened)
    const limits = { text: Math.max(SHORTEST_TEXT, TEXT / share), items: Math.floor(ITEMS / share) }
    const shorter = { ...(shorten({ ...stored, shortened: undefined }, limits, '', paths) as object) }
    const body = JSON.stringify({ ...shorter, shortened: [...paths].sort() })
    if (Buffer.byteLength(body) <= BODY_LIMIT) return body
  }
  throw new Error('the payload of a hook has too many fields')
}

/** Returns a copy within the limits, and adds the path of each shortened field to `paths`. */
function shorten(value: unknown, limits: Limits, path: string, paths: Set<string>): unknown {
  if (typeof value === 'string') {
    if (value.length <= limits.text) return value
    paths.add(path)
    return beginning(value, limits.text)
  }
  if (Array.isArray(value)) {
    if (value.length > limits.items) paths.add(path)
    return value.slice(0, limits.items).map((item, at) => shorten(item, limits, below(path, at), paths))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, shorten(field, limits, below(path, name), paths)])
  )
}

const below = (path: string, name: string | number) => (path === '' ? String(name) : `${path}.${name}`)

/** Returns the first characters of a text, at most `length`. It never splits a surrogate pair. */
export function beginning(text: string, length: number): string {
  const isPair = /[\ud800-\udbff]/.test(text.charAt(length - 1))
  return text.slice(0, text.length > length && isPair ? length - 1 : length)
}

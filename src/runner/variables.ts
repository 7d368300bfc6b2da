// Variables of a build. References to other variables are expanded here, never by a shell.

export interface Variable {
  readonly key: string
  readonly value: string
  readonly public: boolean
  /** True: references in the value are not replaced. */
  readonly raw?: true
}

const NAME_SHAPE = /^[A-Za-z_][A-Za-z0-9_]*$/
/** bash refuses to set these variables, and the script would then end before it began. */
const READ_ONLY = new Set(['UID', 'EUID', 'PPID', 'BASHOPTS', 'SHELLOPTS', 'BASH_VERSINFO'])
const REFERENCE = /\$(?:\$|\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))|%([A-Za-z_][A-Za-z0-9_]*)%/g
/**
 * The kernel starts no program with a longer variable, in bytes. The limit also keeps values that double each other from growing
 * without end.
 */
const LONGEST_VALUE = 131_000
/** The bytes that references may add to all values together. The kernel allows two megabytes of variables. */
const ROOM = 1_048_576

/** Returns true when a shell can have a variable with this name. */
export const canExport = (key: string): boolean => NAME_SHAPE.test(key) && !READ_ONLY.has(key)

/**
 * Replaces `$NAME`, `${NAME}` and `%NAME%`; `$$` becomes a dollar sign. An unknown name becomes empty, but an unknown `%NAME%`
 * stays, because it may be part of an encoded address. A value that would grow to more than 131000 bytes stays unchanged.
 */
export function expand(text: string, lookup: (name: string) => string | undefined): string {
  let size = Buffer.byteLength(text)
  const expanded = text.replace(REFERENCE, (match, braced, bare, percent) => {
    if (match === '$$') return '$'
    const value = size > LONGEST_VALUE ? '' : (lookup(braced ?? bare ?? percent) ?? (percent ? match : ''))
    size += Buffer.byteLength(value)
    return value
  })
  return size > LONGEST_VALUE ? text : expanded
}

/**
 * Returns the values in the order of the list; the last entry of a name wins. A reference is replaced with the value that was set
 * before it; without one, with the unexpanded value of a later entry. So `PATH: "/opt/bin:$PATH"` works, and also a use before the
 * definition. When the values together grow by more than a megabyte, the rest stay unexpanded.
 */
export function expandVariables(variables: Variable[], base: Record<string, string>): Map<string, string> {
  const later = new Map(variables.map(({ key, value }) => [key, value]))
  const set = new Map(Object.entries(base))
  const values = new Map<string, string>()
  let room = ROOM
  for (const { key, value, raw } of variables) {
    const grown = raw ? value : expand(value, name => set.get(name) ?? (name === key ? undefined : later.get(name)))
    const growth = Buffer.byteLength(grown) - Buffer.byteLength(value)
    const expanded = growth > room ? value : grown
    room -= Math.max(0, Buffer.byteLength(expanded) - Buffer.byteLength(value))
    set.set(key, expanded)
    values.delete(key)
    values.set(key, expanded)
  }
  return values
}

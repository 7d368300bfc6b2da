// Variables of a build: references to others in their values are expanded here, never by a shell.

export type Variable = { key: string; value: string; public: boolean }

const nameShape = /^[A-Za-z_][A-Za-z0-9_]*$/
/** bash refuses to set these, which would end the script before it began. */
const readOnly = new Set(['UID', 'EUID', 'PPID', 'BASHOPTS', 'SHELLOPTS', 'BASH_VERSINFO'])
const reference = /\$(?:\$|\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))|%([A-Za-z_][A-Za-z0-9_]*)%/g
/** The kernel refuses a longer one; it also keeps values that double one another from growing without end. */
const longestValue = 131_000

/** Whether a shell can have a variable of this name. */
export const canExport = (key: string): boolean => nameShape.test(key) && !readOnly.has(key)

/**
 * Replaces `$NAME`, `${NAME}` and `%NAME%`; `$$` is a dollar sign. An unknown name is empty, but `%NAME%` stays, as it
 * may be part of an encoded address. A value that would grow beyond 131000 characters stays as it is.
 */
export function expand(text: string, lookup: (name: string) => string | undefined): string {
  let size = text.length
  const expanded = text.replace(reference, (match, braced, bare, percent) => {
    if (match === '$$') return '$'
    const value = size > longestValue ? '' : (lookup(braced ?? bare ?? percent) ?? (percent ? match : ''))
    size += value.length
    return value
  })
  return size > longestValue ? text : expanded
}

/**
 * The values in list order; the last entry of a name wins. A reference gives what was set before it, else what a later
 * entry says, as written there: so `PATH: "/opt/bin:$PATH"` and a use before the definition both work.
 */
export function expandVariables(variables: Variable[], base: Record<string, string>): Map<string, string> {
  const later = new Map(variables.map(({ key, value }) => [key, value]))
  const set = new Map(Object.entries(base))
  const values = new Map<string, string>()
  for (const { key, value } of variables) {
    const expanded = expand(value, name => set.get(name) ?? (name === key ? undefined : later.get(name)))
    set.set(key, expanded)
    values.delete(key)
    values.set(key, expanded)
  }
  return values
}

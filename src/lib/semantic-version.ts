// Semantic versions among names of tags, such as `1.2.3` and `v1.2.3`.
const VERSION = /^v?(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:\+[\w.-]+)?$/

/** Returns the name with the highest version; undefined without any. Those before a release (`1.0.0-rc.1`) do not count. */
export function newestVersion(names: readonly string[]): string | undefined {
  let best: { readonly name: string; readonly parts: readonly number[] } | undefined
  for (const name of names) {
    const parts = VERSION.exec(name)?.slice(1).map(Number)
    if (parts && (!best || isHigher(parts, best.parts))) best = { name, parts }
  }
  return best?.name
}

function isHigher(parts: readonly number[], others: readonly number[]): boolean {
  const at = parts.findIndex((part, index) => part !== others[index])
  return at >= 0 && (parts[at] ?? 0) > (others[at] ?? 0)
}

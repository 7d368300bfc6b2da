// "Path rules": the names that a project, user or group may have in a URL.

// Not specified: `ci`, which is often the name of the user of a build system. The only paths below /ci are those of the runner
// protocol, /ci/api/v1, and they are not paths of a repository. Not specified either: `explore` is reserved, because
// it is a page.
const RESERVED = new Set(
  `.well-known admin all assets dashboard explore files groups help hooks issues merge_requests new notes profile projects
  public repository robots.txt s search services snippets teams u unsubscribes users api oauth -`
    .split(/\s+/)
    .filter(Boolean)
)

/** Returns why `path` is not valid for `kind`, or null when it is valid. */
export function pathProblem(path: string, kind: 'project' | 'namespace'): string | null {
  if (path === '') return "can't be blank"
  if (path.length > 255) return 'is too long (maximum is 255 characters)'
  if (!/^[a-zA-Z0-9_.-]+$/.test(path)) return "can contain only letters, digits, '_', '-' and '.'"
  if (path.startsWith('-')) return "cannot start with '-'"
  if (/^\.{1,2}$/.test(path)) return 'is reserved'
  if (/\.(git|atom)$/i.test(path)) return "cannot end in '.git' or '.atom'"
  if (kind === 'namespace' && path.endsWith('.')) return "cannot end in '.'"
  if (kind === 'namespace' && RESERVED.has(path.toLowerCase())) return 'is reserved'
  return null
}

/** Returns why a project cannot have this name, or null when the name is valid. */
export function nameProblem(name: string): string | null {
  if (name.trim() === '') return "can't be blank"
  if (name.length > 255) return 'is too long (maximum is 255 characters)'
  if (name.endsWith(' ')) return 'must not end with a space'
  if (
    !/^[\p{L}\p{N}\p{Extended_Pictographic}_](?:[\p{L}\p{N}\p{Extended_Pictographic}_. -]|\u200d|\ufe0f)*$/u.test(name)
  ) {
    return "can contain only letters, digits, emojis, '_', '.', dash, space. It must start with letter, digit, emoji or '_'."
  }
  return null
}

/** Returns the path of a project that was created with a name only. */
export const pathOfName = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[-.]+|-+$/g, '')

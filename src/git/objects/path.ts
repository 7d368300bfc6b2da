// Checks paths within a repository that users send.
import { BadRequest } from '../../errors.js'

/** A path that no file in a repository can have. */
export class InvalidPath extends BadRequest {
  constructor(
    readonly path: string,
    why?: string
  ) {
    super(why === undefined ? 'The file path is invalid' : `The file path is invalid: ${why}`)
  }
}

// HFS+ ignores these characters in a name, so that `.g<U+200C>it` means `.git` there.
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
// NTFS treats these names as .git: its short name, trailing dots and spaces, and streams.
const DOT_GIT = /^(?:\.git|git~1)[ .]*(?:$|:)/i

const isDotGit = (name: string) =>
  name
    .replaceAll(IGNORED, '')
    .split('\\')
    .some(part => DOT_GIT.test(part))

/**
 * Returns the components of a path. Throws InvalidPath when the path is absolute, is longer than 4096 bytes, or contains an empty
 * component, `.`, `..`, a NUL, half a surrogate pair, or a name that some file system treats as `.git`.
 */
export function checkPath(path: string): string[] {
  const components = path.split('/')
  if (Buffer.byteLength(path) > 4096 || path.includes('\0') || /\p{Surrogate}/u.test(path)) throw new InvalidPath(path)
  const bad = (name: string) => name === '' || name === '.' || name === '..' || isDotGit(name)
  if (components.some(bad)) throw new InvalidPath(path)
  return components
}

/** The longest name of a file or folder that file systems accept, in bytes. */
const NAME_LIMIT = 255

/**
 * Checks the path of a new file beyond `checkPath`: it rejects names that people could not check out, or that look like another
 * name. Files that were pushed with such names can still be read, changed and deleted. Throws InvalidPath with the reason.
 */
export function checkNewPath(path: string): void {
  for (const name of path.split('/')) {
    if (Buffer.byteLength(name) > NAME_LIMIT) {
      throw new InvalidPath(path, `"${name.slice(0, 40)}..." is longer than ${NAME_LIMIT} bytes`)
    }
    if (name.includes('\\')) throw new InvalidPath(path, `${JSON.stringify(name)} contains a backslash`)
    if (/\p{Cc}/u.test(name))
      throw new InvalidPath(path, `${JSON.stringify(name)} contains a line end or another control character`)
  }
}

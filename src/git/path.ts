// Checks paths within a repository that a user gives.
import { BadRequest } from '../errors.js'

/** A path that no file in a repository can have. */
export class InvalidPath extends BadRequest {
  constructor(readonly path: string) {
    super('The file path is invalid')
  }
}

// HFS+ ignores these characters in a name, so that `.g<U+200C>it` means .git there.
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
// NTFS takes these names for .git: its short name, trailing dots and spaces, and streams.
const DOT_GIT = /^(?:\.git|git~1)[ .]*(?:$|:)/i

const isDotGit = (name: string) =>
  name
    .replaceAll(IGNORED, '')
    .split('\\')
    .some(part => DOT_GIT.test(part))

/**
 * Returns the components of a path. Throws InvalidPath when the path is absolute, is longer than 4096 bytes, or
 * contains an empty component, `.`, `..`, a NUL, half a surrogate pair, or a name that some file system takes for
 * `.git`.
 */
export function checkPath(path: string): string[] {
  const components = path.split('/')
  if (Buffer.byteLength(path) > 4096 || path.includes('\0') || /\p{Surrogate}/u.test(path)) throw new InvalidPath(path)
  const bad = (name: string) => name === '' || name === '.' || name === '..' || isDotGit(name)
  if (components.some(bad)) throw new InvalidPath(path)
  return components
}

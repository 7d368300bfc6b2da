// Paths within a repository, as a user names them.
import { BadRequest } from '../errors.js'

/** A path that cannot be one of a file in a repository. */
export class InvalidPath extends BadRequest {
  constructor(readonly path: string) {
    super('The file path is invalid')
  }
}

// The characters that HFS+ ignores in a name: `.g<U+200C>it` is .git there.
const ignored = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
// What NTFS takes for .git: its short name, trailing dots and spaces, streams.
const dotGit = /^(?:\.git|git~1)[ .]*(?:$|:)/i

const isDotGit = (name: string) =>
  name
    .replaceAll(ignored, '')
    .split('\\')
    .some(part => dotGit.test(part))

/**
 * The components of a path. Throws InvalidPath for one that is absolute, longer than 4096 bytes, or has an empty
 * component, `.`, `..`, a NUL, half a surrogate pair, or anything that some file system takes for `.git`.
 */
export function checkPath(path: string): string[] {
  const components = path.split('/')
  if (Buffer.byteLength(path) > 4096 || path.includes('\0') || /\p{Surrogate}/u.test(path)) throw new InvalidPath(path)
  const bad = (name: string) => name === '' || name === '.' || name === '..' || isDotGit(name)
  if (components.some(bad)) throw new InvalidPath(path)
  return components
}

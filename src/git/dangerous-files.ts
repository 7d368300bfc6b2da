// Files that git itself obeys. A push with a harmful one is refused by git's own check; a commit by API must be no way
// around it, and must not leave a history that nobody can push elsewhere.
import { BadRequest } from '../errors.js'

/** Content that git's check of pushed objects would refuse. */
export class RefusedContent extends BadRequest {}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1).toLowerCase()
const obeyed = /^\.?git(?:modules|attributes|ignore|~\d|mod~\d|att~\d)|^\.mailmap/

/** Throws RefusedContent for a symlink where git reads its own settings. */
export function checkLink(path: string): void {
  if (obeyed.test(nameOf(path))) throw new RefusedContent(`${path} cannot be a symbolic link`)
}

/** Throws RefusedContent for submodule settings that carry options or paths out, and for endless attribute lines. */
export function checkContent(path: string, content: Buffer): void {
  const name = nameOf(path)
  if (name === '.gitmodules') checkModules(path, content.toString())
  if (name !== '.gitattributes') return
  if (
    content.length > 1024 * 1024 ||
    content
      .toString()
      .split('\n')
      .some(line => line.length >= 2048)
  ) {
    throw new RefusedContent(`${path} is too large`)
  }
}

function checkModules(path: string, text: string): void {
  // Stricter than git: continued lines and escapes are not needed in a list of submodules.
  const refused =
    text.length > 1024 * 1024 ||
    /\\/.test(text) ||
    /(?:url|path|update)\s*=\s*"?\s*[-!]/i.test(text) ||
    /^\s*\[\s*submodule\s+"[^"]*\.\.[^"]*"/im.test(text) ||
    /url\s*=.*(?:\.\.\/){2,}:|%0a/i.test(text) ||
    !text.split('\n').every(line => /^\s*(?:[#;].*|\[\s*submodule\s+"[^"\n]*"\s*\]|[\w.-]+\s*(?:=.*)?)?\s*$/.test(line))
  if (refused) throw new RefusedContent(`${path} holds settings that are not accepted`)
}

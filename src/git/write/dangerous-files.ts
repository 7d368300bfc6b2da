// Checks files that git itself obeys. Git's own check refuses a push that contains a harmful file. A commit through the
// API must not bypass that check, and must not create a history that nobody can push elsewhere.
import { BadRequest } from '../../errors.js'

/** Content that git's check of pushed objects would refuse. */
class RefusedContent extends BadRequest {}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1).toLowerCase()
const OBEYED = /^\.?git(?:modules|attributes|ignore|~\d|mod~\d|att~\d)|^\.mailmap/

/** Returns whether git obeys a file with this name. */
export const isObeyed = (path: string): boolean => OBEYED.test(nameOf(path))

/** Throws RefusedContent when a symbolic link has the name of a file from which git reads its settings. */
export function checkLink(path: string): void {
  if (OBEYED.test(nameOf(path))) throw new RefusedContent(`${path} cannot be a symbolic link`)
}

/**
 * Throws RefusedContent for submodule settings that contain options or leave the repository, and for attribute files
 * that are too large or have too long lines.
 */
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
  // This is stricter than git: a list of submodules does not need continued lines and escapes.
  const refused =
    text.length > 1024 * 1024 ||
    /\\/.test(text) ||
    /(?:url|path|update)\s*=\s*"?\s*[-!]/i.test(text) ||
    /^\s*\[\s*submodule\s+"[^"]*\.\.[^"]*"/im.test(text) ||
    /url\s*=.*(?:\.\.\/){2,}:|%0a/i.test(text) ||
    !text.split('\n').every(line => /^\s*(?:[#;].*|\[\s*submodule\s+"[^"\n]*"\s*\]|[\w.-]+\s*(?:=.*)?)?\s*$/.test(line))
  if (refused) throw new RefusedContent(`${path} contains settings that are not accepted`)
}

// Decides which objects of a push need no judgement by git: those of the plain form that nearly all objects have. This is
// stricter than git's own check (fsck with receive.fsckObjects), and knows no single reason of it: git judges all other
// objects, and says what is wrong with them.
import { isUtf8 } from 'node:buffer'
import { textOfName } from '../../objects/names.js'
import { LeaveToGit } from '../../objects/odb/leave-to-git.js'
import type { TreeEntry } from '../../objects/tree-object.js'

const PERSON = '[^\\0\\n<>]* <[^\\0\\n<>]*> (?:0|[1-9][0-9]{0,11}) [+-][0-9]{4}'
const COMMIT = new RegExp(
  `^tree ([0-9a-f]{40})\\n((?:parent [0-9a-f]{40}\\n)*)author ${PERSON}\\ncommitter ${PERSON}\\n`
)
const TAG = new RegExp(`^object ([0-9a-f]{40})\\ntype commit\\ntag [\\w.+/-]+\\ntagger ${PERSON}\\n\\n`)
const MOST_PARENTS = 16

/**
 * Throws LeaveToGit for anything but text. Git looks for the traces of attacks on SHA-1 in each object; this program does
 * not. Such an attack needs blocks of 64 bytes that nobody can choose, so that they are never valid text.
 */
function checkText(content: Buffer): void {
  if (!isUtf8(content)) throw new LeaveToGit('content that is not text')
}

/** Throws LeaveToGit for content that git must judge. */
export const checkBlob: (content: Buffer) => void = checkText

/** Returns what a commit refers to. Throws LeaveToGit. */
export function plainCommit(content: Buffer): { readonly treeId: string; readonly parents: readonly string[] } {
  checkText(content)
  const text = content.toString('latin1')
  const [, treeId, lines = ''] = COMMIT.exec(text) ?? []
  if (!treeId || text.includes('\0') || !text.includes('\n\n')) throw new LeaveToGit('an unusual commit')
  const parents = lines.split('\n').flatMap(line => (line === '' ? [] : [line.slice('parent '.length)]))
  if (parents.length > MOST_PARENTS) throw new LeaveToGit('a commit with many parents')
  return { treeId, parents }
}

/** Returns the commit that an annotated tag points at. Throws LeaveToGit, also for a tag of anything else. */
export function plainTag(content: Buffer): string {
  checkText(content)
  const text = content.toString('latin1')
  const target = TAG.exec(text)?.[1]
  if (!target || text.includes('\0')) throw new LeaveToGit('an unusual tag')
  return target
}

const TYPES: { readonly [mode: string]: TreeEntry['type'] } = {
  '100644': 'blob',
  '100755': 'blob',
  '120000': 'blob',
  '40000': 'tree',
  '160000': 'commit'
}
const ID_BYTES = 20
const LONGEST_NAME = 255

/** Returns the entries of a tree. Throws LeaveToGit. */
export function plainTree(content: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = []
  const names = new Set<string>()
  let before = ''
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at)
    const end = content.indexOf(0, space)
    const after = end + 1 + ID_BYTES
    const mode = content.toString('latin1', at, Math.min(space, at + 7))
    const type = TYPES[mode]
    if (!type || space < at || end < space || after > content.length) throw new LeaveToGit('an unusual tree')
    if (end - space > LONGEST_NAME) throw new LeaveToGit('a long name')
    const name = content.toString('latin1', space + 1, end)
    const key = type === 'tree' ? `${name}/` : name
    const id = content.toString('hex', end + 1, after)
    if (isUnusual(name) || key <= before || names.has(name) || /^0+$/.test(id)) throw new LeaveToGit('an unusual tree')
    entries.push({ mode: mode.padStart(6, '0'), name: textOfName(content, space + 1, end), type, id })
    names.add(name)
    before = key
    at = after
  }
  return entries
}

/** Names without anything that some file system drops, folds, or takes for a separator. */
const SIMPLE = /^[\w.,@+=()[\]{}!#$%&'` -]+$/
/** The characters that macOS drops from names begin with these bytes of UTF-8. */
const DROPPED = /\xe2[\x80\x81]|\xef\xbb/
/** Names that begin like those of git's own files, but cannot be read as one of them. */
const OF_GIT = /^\.git[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/

/** Returns whether git has to judge a name, in latin1, because some system might take it for that of a file which git obeys. */
function isUnusual(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return true
  const small = name.toLowerCase()
  if (small.startsWith('.git')) return !OF_GIT.test(small) || small === '.gitmodules'
  if (SIMPLE.test(name)) return false
  // `~1` is the end of a short name of Windows, and `:` begins the name of a stream.
  return /[\x00-\x1f\x7f\\/:]|~\d/.test(name) || DROPPED.test(name) || name.startsWith('.')
}

/** Git refuses longer lines. */
const LONGEST_LINE = 2048

/** Throws LeaveToGit for a `.gitattributes` that git must judge. */
export function checkAttributes(content: Buffer): void {
  const lines = content.toString('latin1').split('\n')
  if (lines.some(line => line.length >= LONGEST_LINE - 1)) throw new LeaveToGit('a long line of attributes')
}

/** Returns whether an entry names the attributes of files, which git obeys. */
export const areAttributes = ({ name }: TreeEntry): boolean => name.toLowerCase() === '.gitattributes'

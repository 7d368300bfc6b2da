// Reads a file for people: its lines, with colours where they are known, or the reason why they are not shown.
import { isUtf8 } from 'node:buffer'
import { NotFound } from '../../../errors.js'
import { lastCommitOfPath } from '../../../git/history/commits.js'
import { blobSize, readBlob } from '../../../git/objects/blob.js'
import { type Commit, readCommit } from '../../../git/objects/objects.js'
import { findEntry, missingBlob, type PathEntry } from '../../../git/objects/tree.js'
import { escapeText } from '../../../lib/escape-html.js'
import { visible } from '../../../lib/visible.js'
import type { LfsKey } from '../../../storage/lfs.js'
import { highlightedLines } from '../../../text/page-texts.js'
import { objectOfBlob } from '../../projects/lfs/pointers.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import type { RefPath } from './ref-paths.js'

/** Bytes and lines of a file that is shown. */
export const LONGEST_TEXT = 524_288
export const MOST_LINES = 10_000
/** Characters of a line. */
const LONGEST_LINE = 5000
/** Git treats a file as binary when its first 8000 bytes contain a NUL. */
const LOOKED_AT = 8000

export interface FoundFile {
  readonly entry: PathEntry
  readonly size: number
}

/** Finds the file of an address. Throws NotFound when it is not a file. */
export async function findFileAt({ repository, commitId, path }: RefPath): Promise<FoundFile> {
  const entry = await findEntry(repository, commitId, path)
  if (entry?.type !== 'blob') throw new NotFound('File')
  const size = await blobSize(repository, entry.id)
  if (size === null) throw missingBlob(repository, entry)
  return { entry, size }
}

/** Returns what is at the address: a folder, a file, or nothing that has a page. */
export async function kindAt({ repository, commitId, path }: RefPath): Promise<'tree' | 'blob' | null> {
  const type = (await findEntry(repository, commitId, path))?.type
  return type === 'commit' || type === undefined ? null : type
}

/** Returns the object of git LFS for which a file stands, if the project has it. */
export const lfsObjectAt = (
  project: ProjectRow,
  { repository }: RefPath,
  { entry, size }: FoundFile
): Promise<LfsKey | null> => objectOfBlob(project, { repository, id: entry.id, size })

/** Returns the last commit that changed a file; null when it is unknown. */
export async function lastCommitAt({ repository, commitId, path }: RefPath): Promise<Commit | null> {
  const id = await lastCommitOfPath(repository, commitId, path)
  return id === null ? null : readCommit(repository, id)
}

/** Returns the text of a file; null for one with a NUL. Not specified: bytes that are not UTF-8. They are read as Latin-1. */
export function decodeText(content: Buffer): string | null {
  if (content.subarray(0, LOOKED_AT).includes(0)) return null
  return isUtf8(content) ? content.toString().replace(/^\ufeff/, '') : content.toString('latin1')
}

/** The text of a file; null when it is binary or larger than LONGEST_TEXT. */
export async function textAt({ repository }: RefPath, { entry, size }: FoundFile): Promise<string | null> {
  if (size > LONGEST_TEXT) return null
  const content = await readBlob(repository, entry.id, LONGEST_TEXT)
  return content && decodeText(content)
}

export interface ShownText {
  /** The lines as HTML that is safe to show. */
  readonly lines: readonly string[]
  /** The number of lines that are left out at the end. */
  readonly cutLines: number
}

/** Returns what a page of a file shows of a line. */
export const shortLine = (line: string): string =>
  visible(line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line.replace(/\r$/, ''))

/** Returns the lines of a text for a page. Control characters and marks of direction can be seen in them. */
export async function shownLines(entry: Pick<PathEntry, 'id' | 'name'>, text: string): Promise<ShownText> {
  const all = text.split('\n')
  if (all.at(-1) === '') all.pop()
  const shown = all.slice(0, MOST_LINES).map(shortLine)
  const colored = await highlightedLines(entry.id, entry.name, shown.join('\n'))
  const lines = colored?.length === shown.length ? colored : shown.map(escapeText)
  return { lines, cutLines: all.length - shown.length }
}

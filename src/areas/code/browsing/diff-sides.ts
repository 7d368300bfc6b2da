// Reads the files of a change as a whole: the colours of a line depend on the lines before it, and a page may show more lines around a
// change than git has returned.
import { blobSize, readBlob } from '../../../git/objects/blob.js'
import { languageOfFile } from '../../../text/languages.js'
import { highlightedLines } from '../../../text/page-texts.js'
import { decodeText, LONGEST_TEXT, MOST_LINES, shortLine } from './file-texts.js'

/** Characters of a file that is highlighted next to others. This takes about a tenth of a second. */
const LONGEST_COLORED = 100_000

export interface FileSide {
  readonly lines: readonly string[]
  /** The lines as text and as HTML with colours; empty without colours. */
  readonly texts: readonly string[]
  readonly html: readonly string[]
  /** Why a file in a known language has no colours. */
  readonly plain: 'long' | 'late' | null
}

interface Wanted {
  /** The id of the blob. */
  readonly id: string
  /** The path of the file, which names its language. */
  readonly path: string
  readonly wantsLines: boolean
  /** Returns whether it is too late for highlighting. */
  readonly isLate: () => boolean
}

/** Returns a file before or after a change; null when it has no text, or nothing of it is wanted. */
export async function readSide(repository: string, { id, path, wantsLines, isLate }: Wanted): Promise<FileSide | null> {
  const isKnown = languageOfFile(path) !== undefined
  if (!isKnown && !wantsLines) return null
  const size = await blobSize(repository, id)
  if (size === null) return null
  const plain = { lines: [], texts: [], html: [], plain: null }
  if (size > LONGEST_TEXT) return isKnown ? { ...plain, plain: 'long' } : null
  const content = await readBlob(repository, id, LONGEST_TEXT)
  const text = content && decodeText(content)
  if (text === null) return null
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  if (!isKnown) return { ...plain, lines }
  if (text.length > LONGEST_COLORED || lines.length > MOST_LINES) return { ...plain, lines, plain: 'long' }
  if (isLate()) return { ...plain, lines, plain: 'late' }
  const texts = lines.map(shortLine)
  const html = await highlightedLines(id, path, texts.join('\n'))
  return html?.length === texts.length ? { lines, texts, html, plain: null } : { ...plain, lines, plain: 'late' }
}

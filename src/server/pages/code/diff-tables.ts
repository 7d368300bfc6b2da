// The tables of the files of a page of changes, with colours, marks and more lines around the changes. A pair of blobs never changes, so
// tables are kept by the ids of their blobs.
import { LRUCache } from 'lru-cache'
import { type FileSide, readSide } from '../../../areas/code/browsing/diff-sides.js'
import { escapeText } from '../../../lib/escape-html.js'
import type { DiffLine, ShownFile } from '../../../text/diff.js'
import { widened } from '../../../text/diff-context.js'
import { changedParts, markedHtml } from '../../../text/diff-marks.js'
import { languageOfFile } from '../../../text/languages.js'
import { type LineForms, rowsOf } from './diff-rows.js'

export interface Table {
  /** The rows as HTML. */
  readonly rows: string
  /** Why a file in a known language has no colours. */
  readonly plain: FileSide['plain']
  /** The number of lines for the next question about more context; null when there is no more. */
  readonly more: number | null
}

export interface TableOptions {
  /** The repository with the blobs; without it there are no colours. */
  readonly repository?: string | undefined
  readonly view: 'inline' | 'parallel'
  /** Lines to show around each change besides those of git. */
  readonly context: number
  readonly forms: LineForms | null
  /** Returns the function that shows the notes below the lines of a file; null for a file without notes. */
  readonly notesOf?: ((file: ShownFile) => ((line: DiffLine) => string) | null) | undefined
}

/** The numbers of lines that can be asked for. */
const STEPS = [20, 100, 5000]

/** Returns how many more lines stand around a change when `asked` are wanted. */
export const contextOf = (asked = 0): number => (asked === 0 ? 0 : (STEPS.find(step => step >= asked) ?? 5000))

/** Characters of all tables. */
const MOST = 16 * 1024 * 1024
const kept = new LRUCache<string, Table>({
  maxSize: MOST,
  sizeCalculation: ({ rows }, key) => rows.length + key.length + 300
})

/** Milliseconds for the colours of one page. Files that follow are plain, and may have colours when the page is opened again. */
const PATIENCE = 1000

/** Returns the tables of files; files without changed lines have none. */
export async function readTables(
  files: readonly ShownFile[],
  options: TableOptions
): Promise<ReadonlyMap<ShownFile, Table>> {
  const end = Date.now() + PATIENCE
  const tables = new Map<ShownFile, Table>()
  for (const file of files) {
    if (file.lines === 0) continue
    const notesAt = options.notesOf?.(file) ?? null
    const key = keyOf(file, options)
    const table =
      (notesAt ? undefined : kept.get(key)) ?? (await readTable(file, notesAt, options, () => Date.now() > end))
    if (!notesAt && table.plain !== 'late') kept.set(key, table)
    tables.set(file, table)
  }
  return tables
}

/** Everything that a table shows: the blobs decide its lines. */
function keyOf({ oldId, newId, anchor, change, path, oldPath }: ShownFile, options: TableOptions): string {
  const { view, context, forms, repository } = options
  const oldLanguage = oldPath === path ? '' : languageOfFile(oldPath)
  return `${oldId} ${newId} ${anchor} ${change} ${oldLanguage} ${view} ${context} ${forms?.lines} ${forms?.start} ${repository === undefined}`
}

async function readTable(
  file: ShownFile,
  notesAt: ((line: DiffLine) => string) | null,
  { repository, view, context, forms }: TableOptions,
  isLate: () => boolean
): Promise<Table> {
  const has = (side: 'old' | 'new', kind?: DiffLine['kind']) =>
    file.hunks.some(({ lines }) => lines.some(line => line[side] !== null && (!kind || line.kind === kind)))
  const read = async (id: string, path: string, wantsLines = false) =>
    repository === undefined ? null : readSide(repository, { id, path, wantsLines, isLate })
  const old = has('old', 'removed') ? await read(file.oldId, file.oldPath) : null
  const young = has('new') ? await read(file.newId, file.path, context > 0) : null
  const hunks = context > 0 && young ? widened(file.hunks, young.lines, context) : file.hunks
  const parts = new Map(hunks.flatMap(({ lines }) => [...changedParts(lines)]))
  const codeOf = (line: DiffLine): string => {
    const html = coloured(line.kind === 'removed' ? old : young, line) ?? escapeText(line.text)
    const part = parts.get(line)
    return part ? markedHtml(html, part) : html
  }
  return {
    rows: rowsOf({ ...file, hunks }, { view, codeOf, notesAt, forms }),
    plain: old?.plain ?? young?.plain ?? null,
    more: moreOf(file, { repository, context })
  }
}

/** Returns a line with colours; undefined when the page shows another text than the file has, such as a part of a long line. */
function coloured(side: FileSide | null, line: DiffLine): string | undefined {
  const at = (line.kind === 'removed' ? line.old : line.new) ?? 0
  return side?.texts[at - 1] === line.text ? side.html[at - 1] : undefined
}

/** A file that is new or removed has no other lines. */
function moreOf(
  { change, cutLines }: ShownFile,
  { repository, context }: Pick<TableOptions, 'repository' | 'context'>
) {
  if (repository === undefined || change === 'added' || change === 'deleted' || cutLines > 0) return null
  return STEPS.find(step => step > context) ?? null
}

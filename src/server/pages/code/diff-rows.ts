// The rows of changed lines as HTML. A page may have thousands, and a template takes three times as long for them.
import { escapeText } from '../../../lib/escape-html.js'
import { type DiffLine, type ShownFile, sideBySide } from '../../../text/diff.js'
import { counted, escaped } from '../components.js'

/** How the lines of a file are shown. */
export interface Rows {
  readonly view: 'inline' | 'parallel'
  /** Returns the text of a line as HTML that is safe to show. */
  readonly codeOf: (line: DiffLine) => string
  /** Returns the notes below a line as HTML that is safe to show; an empty text without notes. */
  readonly notesAt: ((line: DiffLine) => string) | null
  readonly forms: LineForms | null
}

/** The links at the numbers of lines, each to the page with a form for a note. */
export interface LineForms {
  readonly lines: 'all' | 'changed'
  /** What stands before the id of a line in its link. */
  readonly start: string
}

/** Returns the id of a line in a page of changes: with its number in the new file if it has one. */
export const lineId = ({ anchor }: Pick<ShownFile, 'anchor'>, { kind, old, new: young }: DiffLine): string =>
  kind === 'removed' ? `${anchor}-L${old}` : `${anchor}-R${young}`

/** Returns the rows of a file; everything that others wrote is escaped. */
export function rowsOf(file: ShownFile, rows: Rows): string {
  const columns = rows.view === 'parallel' ? 4 : 3
  const parts: string[] = []
  for (const { heading, lines } of file.hunks) {
    parts.push(`<tr class="hunk"><td colspan="${columns}">${escapeText(heading)}</td></tr>\n`)
    if (rows.view === 'inline') {
      for (const line of lines) {
        const cells = numberCell(file, line, 'old', rows) + numberCell(file, line, 'new', rows) + codeCell(line, rows)
        parts.push(`<tr>${cells}</tr>${notesRow(line, columns, rows)}\n`)
      }
      continue
    }
    for (const { left, right } of sideBySide(lines)) {
      const cells = numberCell(file, left, 'old', rows) + codeCell(left, rows) + numberCell(file, right, 'new', rows)
      const below = right === left ? '' : notesRow(right, columns, rows)
      parts.push(`<tr>${cells}${codeCell(right, rows)}</tr>${notesRow(left, columns, rows)}${below}\n`)
    }
  }
  return parts.join('')
}

/** Each line has one id and one link to a form, to which the focus scrolls. Pages have thousands of them, so they are short. */
function numberCell(file: ShownFile, line: DiffLine | null, side: 'old' | 'new', { forms }: Rows): string {
  const number = line?.[side] ?? null
  if (line === null || number === null) return '<td></td>'
  if (side === 'old' && line.kind !== 'removed') return `<td>${number}</td>`
  const id = lineId(file, line)
  // Notes belong to lines that git shows with a change.
  const hasForm = forms && !line.isAround && (forms.lines === 'all' || line.kind !== 'same')
  const link = hasForm ? `<a href="${escaped(forms.start)}${id}">${number}</a>` : number
  return `<td id="${id}">${link}</td>`
}

function codeCell(line: DiffLine | null, { codeOf }: Pick<Rows, 'codeOf'>): string {
  if (line === null) return '<td></td>'
  const { kind, cut, isUnended } = line
  const more = cut > 0 ? `<em> and ${counted(cut, 'more character')}</em>` : ''
  const end = isUnended ? '<em> no line end</em>' : ''
  return `<td${kind === 'same' ? '' : ` class="${kind}"`}>${codeOf(line)}${more}${end}</td>`
}

function notesRow(line: DiffLine | null, columns: number, { notesAt }: Rows): string {
  const html = line && notesAt ? notesAt(line) : ''
  return html === '' ? '' : `<tr class="notes"><td colspan="${columns}">${html}</td></tr>`
}

/** Returns a few lines without links and ids, to stand above a note about the last of them. */
export function excerptRows(lines: readonly DiffLine[]): string {
  const codeOf = ({ text }: DiffLine) => escapeText(text)
  return lines
    .map(line => `<tr><td>${line.old ?? ''}</td><td>${line.new ?? ''}</td>${codeCell(line, { codeOf })}</tr>`)
    .join('')
}

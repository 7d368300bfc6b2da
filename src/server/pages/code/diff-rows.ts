// The rows of changed lines as HTML. A page may have thousands, and a template takes three times as long for them.
import { escapeText } from '../../../lib/escape-html.js'
import { type DiffLine, type ShownFile, sideBySide } from '../../../text/diff.js'
import { counted, escaped } from '../components.js'

export interface LineNotes {
  /** Returns the notes below a line as HTML that is safe to show; an empty text without notes. */
  readonly notesAt?: (file: ShownFile, line: DiffLine) => string
  /** Returns the page where a note on a line is written; null for a line without notes. */
  readonly noteFormAt?: (file: ShownFile, line: DiffLine) => string | null
}

/** Characters of a link that each line of a file has. */
const LONGEST_FORM = 1000

/** Returns the rows of a file; everything that others wrote is escaped. */
export function rowsOf(file: ShownFile, view: 'inline' | 'parallel', notes: LineNotes): string {
  const columns = view === 'parallel' ? 4 : 3
  const parts: string[] = []
  for (const { heading, lines } of file.hunks) {
    parts.push(`<tr class="hunk"><td colspan="${columns}">${escapeText(heading)}</td></tr>\n`)
    if (view === 'inline') {
      for (const line of lines) {
        const cells = numberCell(file, line, 'old', notes) + numberCell(file, line, 'new', notes) + codeCell(line)
        parts.push(`<tr>${cells}</tr>${notesRow(file, line, columns, notes)}\n`)
      }
      continue
    }
    for (const { left, right } of sideBySide(lines)) {
      const cells = numberCell(file, left, 'old', notes) + codeCell(left) + numberCell(file, right, 'new', notes)
      const below = right === left ? '' : notesRow(file, right, columns, notes)
      parts.push(`<tr>${cells}${codeCell(right)}</tr>${notesRow(file, left, columns, notes)}${below}\n`)
    }
  }
  return parts.join('')
}

/** Each line has one id, with its number in the new file if it has one, and one link to a form. */
function numberCell(file: ShownFile, line: DiffLine | null, side: 'old' | 'new', { noteFormAt }: LineNotes): string {
  const number = line?.[side] ?? null
  if (line === null || number === null) return '<td></td>'
  if (side === 'old' && line.kind !== 'removed') return `<td>${number}</td>`
  const form = noteFormAt?.(file, line)
  const link = form && form.length <= LONGEST_FORM ? `<a href="${escaped(form)}">${number}</a>` : number
  return `<td id="${file.anchor}-${side === 'old' ? 'L' : 'R'}${number}">${link}</td>`
}

function codeCell(line: DiffLine | null): string {
  if (line === null) return '<td></td>'
  const { kind, text, cut, isUnended } = line
  const more = cut > 0 ? `<em> and ${counted(cut, 'more character')}</em>` : ''
  const end = isUnended ? '<em> no line end</em>' : ''
  return `<td${kind === 'same' ? '' : ` class="${kind}"`}>${escapeText(text)}${more}${end}</td>`
}

function notesRow(file: ShownFile, line: DiffLine | null, columns: number, { notesAt }: LineNotes): string {
  const html = line && notesAt ? notesAt(file, line) : ''
  return html === '' ? '' : `<tr class="notes"><td colspan="${columns}">${html}</td></tr>`
}

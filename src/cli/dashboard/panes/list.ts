// Draws one pane: its title, its headings and its lines.
import stringWidth from 'string-width'
import { cutTo, fitTo } from '../../../lib/display-width.js'
import { type Fitted, firstShown, widthsOf } from '../drawing/layout.js'
import { cutLine, styled, type Theme } from '../drawing/style.js'
import { drawn, type Line, type Table, type Tone } from '../drawing/tables.js'

export interface ListProps {
  readonly title: string
  readonly table: Table
  readonly width: number
  /** The number of lines below the headings. */
  readonly body: number
  /** The index of the selected line; -1 for none. */
  readonly chosen: number
  readonly active: boolean
  /** The ids of the marked lines. */
  readonly marks: readonly string[]
  readonly theme: Theme
}

export function listLines({ title, table, width, body, chosen, active, marks, theme }: ListProps): string[] {
  const { lines, columns, total, sort, empty } = table
  const fitted = widthsOf(columns, needsOf(table), width - 2)
  const first = firstShown(Math.max(0, chosen), body, lines.length)
  const between = ' '.repeat(fitted.gap)
  const heading = fitted.shown
    .map((at, index) => fitTo(columns[at]?.heading ?? '', fitted.widths[index] ?? 0, columns[at]?.right))
    .join(between)
  const counted = lines.length === total ? String(total) : `${lines.length} of ${total}`
  const name = cutTo(`${active ? '▸ ' : '  '}${title} ${counted}`, width)
  const notes = [
    `by ${sort}`,
    ...(marks.length > 0 ? [`${marks.length} marked`] : []),
    ...(fitted.hidden.length > 0 ? [`without ${fitted.hidden.join(', ')}`] : [])
  ]
  const order = cutTo(`  ${notes.join('; ')}`, width - stringWidth(name))
  const marked = new Set(marks)
  return [
    styled(name, active ? 'strong' : 'normal', theme) + styled(order, 'dim', theme),
    cutLine(`  ${heading}`.trimEnd(), { width, look: 'dim', theme }),
    ...lines.slice(first, first + body).map((line, index) => {
      const sign = `${active && first + index === chosen ? '>' : ' '}${marked.has(line.id) ? '*' : ' '}`
      return rowText(sign, piecesOf(line, { table, fitted, between }), theme)
    }),
    ...(lines.length === 0 ? [cutLine(`  ${empty}`, { width, look: 'dim', theme })] : [])
  ]
}

/** Returns the width of the longest text of each column. */
function needsOf({ columns, lines }: Table): number[] {
  return columns.map((_column, at) =>
    lines.reduce((most, { cells }) => {
      const cell = cells[at]
      return Math.max(most, cell?.bars ? cell.bars.length : stringWidth(cell?.text ?? ''))
    }, 0)
  )
}

interface Piece {
  /** Grows while neighboring cells are joined. */
  text: string
  readonly tone: Tone
}

interface Columns {
  readonly table: Table
  readonly fitted: Fitted
  readonly between: string
}

/** Returns the cells of a line as few texts: neighboring cells with the same style are joined. */
function piecesOf({ cells }: Line, { table, fitted: { shown, widths }, between }: Columns): Piece[] {
  const pieces: Piece[] = []
  for (const [index, at] of shown.entries()) {
    const cell = cells[at]
    if (!cell) continue
    const width = widths[index] ?? 0
    const text = fitTo(drawn(cell, width), width, table.columns[at]?.right) + (index < shown.length - 1 ? between : '')
    const last = pieces.at(-1)
    if (last?.tone === cell.tone) last.text += text
    else pieces.push({ text, tone: cell.tone })
  }
  return pieces
}

/** `sign` has `>` for the selected line and `*` for a marked line. */
function rowText(sign: string, pieces: readonly Piece[], theme: Theme): string {
  if (sign.startsWith('>')) return styled(`${sign}${pieces.map(({ text }) => text).join('')}`, 'chosen', theme)
  return `${sign}${pieces.map(({ text, tone }) => styled(text, tone, theme)).join('')}`
}

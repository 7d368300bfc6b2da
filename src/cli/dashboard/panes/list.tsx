// Draws one pane: its title, its headings and its lines.
import { Box } from 'ink'
import { cutTo, fitTo } from '../../../lib/display-width.js'
import { firstShown, widthsOf } from '../layout.js'
import { styled, type Theme } from '../style.js'
import { drawn, type Line as Row, type Table, type Tone } from '../tables.js'
import { CutLine, Line } from './line.js'

export interface ListProps {
  readonly title: string
  readonly table: Table
  readonly width: number
  /** How many lines there are below the headings. */
  readonly body: number
  /** The index of the chosen line; -1 for none. */
  readonly chosen: number
  readonly active: boolean
  readonly theme: Theme
}

export function List({ title, table, width, body, chosen, active, theme }: ListProps) {
  const { lines, columns, total, sort, empty } = table
  const { shown, widths, gap } = widthsOf(columns, width - 2)
  const first = firstShown(Math.max(0, chosen), body, lines.length)
  const some = lines.slice(first, first + body)
  const between = ' '.repeat(gap)
  const heading = shown
    .map((at, index) => fitTo(columns[at]?.heading ?? '', widths[index] ?? 0, columns[at]?.right))
    .join(between)
  const counted = lines.length === total ? String(total) : `${lines.length} of ${total}`
  const name = cutTo(`${active ? '▸ ' : '  '}${title} ${counted}`, width)
  const order = cutTo(`  by ${sort}`, width - name.length)
  return (
    <Box flexDirection="column">
      <Line text={styled(name, active ? 'strong' : 'normal', theme) + styled(order, 'dim', theme)} />
      <CutLine text={`  ${heading}`.trimEnd()} width={width} look="dim" theme={theme} />
      {some.map((line, index) => {
        const pieces = piecesOf(line, { table, shown, widths, between })
        return <Line key={line.id} text={rowText(pieces, active && first + index === chosen, theme)} />
      })}
      {lines.length === 0 ? <CutLine text={`  ${empty}`} width={width} look="dim" theme={theme} /> : null}
    </Box>
  )
}

interface Piece {
  /** Grows while neighbours are joined. */
  text: string
  readonly tone: Tone
}

interface Columns {
  readonly table: Table
  readonly shown: readonly number[]
  readonly widths: readonly number[]
  readonly between: string
}

/** The cells of a line as few texts: neighbours with the same look are joined. */
function piecesOf({ cells }: Row, { table, shown, widths, between }: Columns): Piece[] {
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

function rowText(pieces: readonly Piece[], chosen: boolean, theme: Theme): string {
  if (chosen) return styled(`> ${pieces.map(({ text }) => text).join('')}`, 'chosen', theme)
  return `  ${pieces.map(({ text, tone }) => styled(text, tone, theme)).join('')}`
}

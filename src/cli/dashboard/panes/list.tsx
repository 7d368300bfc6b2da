// One pane: its title, its headings, its lines.
import { Box, Text } from 'ink'
import { cutTo, fitTo } from '../../../lib/display-width.js'
import { firstShown, widthsOf } from '../layout.js'
import { styleOf, type Theme } from '../style.js'
import { drawn, type Line, type Table, type Tone } from '../tables.js'

export interface ListProps {
  readonly title: string
  readonly table: Table
  readonly width: number
  /** Lines below the headings. */
  readonly body: number
  /** Which line is chosen; -1 for none. */
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
  const name = `${active ? '▸ ' : '  '}${title} ${counted}`
  return (
    <Box flexDirection="column">
      <Text wrap="truncate-end">
        <Text {...styleOf(active ? 'strong' : 'normal', theme)}>{cutTo(name, width)}</Text>
        <Text {...styleOf('dim', theme)}>{cutTo(`  by ${sort}`, width - name.length)}</Text>
      </Text>
      <Text wrap="truncate-end" {...styleOf('dim', theme)}>
        {`  ${heading}`.trimEnd()}
      </Text>
      {some.map((line, index) => (
        <Row
          key={line.id}
          pieces={piecesOf(line, { table, shown, widths, between })}
          chosen={active && first + index === chosen}
          theme={theme}
        />
      ))}
      {lines.length === 0 ? <Text {...styleOf('dim', theme)}>{cutTo(`  ${empty}`, width)}</Text> : null}
    </Box>
  )
}

interface Piece {
  text: string
  tone: Tone
}

interface Columns {
  readonly table: Table
  readonly shown: readonly number[]
  readonly widths: readonly number[]
  readonly between: string
}

/** The cells of a line as few texts: neighbours that look alike are one. */
function piecesOf({ cells }: Line, { table, shown, widths, between }: Columns): Piece[] {
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

function Row({ pieces, chosen, theme }: { pieces: readonly Piece[]; chosen: boolean; theme: Theme }) {
  if (chosen) {
    return (
      <Text wrap="truncate-end" {...styleOf('chosen', theme)}>
        {`> ${pieces.map(({ text }) => text).join('')}`}
      </Text>
    )
  }
  return (
    <Text wrap="truncate-end">
      {'  '}
      {pieces.map(({ text, tone }, at) =>
        tone === 'normal' ? (
          text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no names, and stay where they are.
          <Text key={at} {...styleOf(tone, theme)}>
            {text}
          </Text>
        )
      )}
    </Text>
  )
}

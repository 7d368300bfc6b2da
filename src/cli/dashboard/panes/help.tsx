// Lists the keys, from the table that the app follows.
import { Box } from 'ink'
import { helpLines } from '../keymap.js'
import { CutLine } from './line.js'

/** Needs twenty lines, so a terminal of 24 lines shows all keys. */
export function Help({ width, body }: { width: number; body: number }) {
  return (
    <Box flexDirection="column">
      {helpLines()
        .slice(0, body)
        .map(({ keys, about }) => (
          <CutLine key={keys} text={`  ${keys.padEnd(17)}${about}`} width={width} theme="plain" />
        ))}
    </Box>
  )
}

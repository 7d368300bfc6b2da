// The keys, from the table that the app obeys.
import { Box } from 'ink'
import { helpLines } from '../keymap.js'
import { CutLine } from './line.js'

/** Needs twenty lines: a terminal of 24. */
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

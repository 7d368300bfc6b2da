// The keys, from the table that the app obeys.
import { Box, Text } from 'ink'
import { cutTo } from '../../../lib/display-width.js'
import { helpLines } from '../keymap.js'

/** Needs twenty lines: a terminal of 24. */
export function Help({ width, body }: { width: number; body: number }) {
  return (
    <Box flexDirection="column">
      {helpLines()
        .slice(0, body)
        .map(({ keys, about }) => (
          <Text key={keys} wrap="truncate-end">
            {cutTo(`  ${keys.padEnd(17)}${about}`, width)}
          </Text>
        ))}
    </Box>
  )
}

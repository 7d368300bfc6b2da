// Passes a frame to Ink as one piece. Ink lays out every text character by character, 12,000 of them at 200x60, and caches
// the sizes of thousands of texts. So Ink lays out a blank, and we put the frame in its place: its lines already have the
// right widths.
import { Text, Transform } from 'ink'
import { createContext, useContext } from 'react'

/** Returns the text that Ink draws for a frame: the frame itself, or a character that a screen replaces by the frame. */
export const Held = createContext((frame: string) => frame)

export function Drawn({ lines }: { lines: readonly string[] }) {
  const hold = useContext(Held)
  return (
    <Transform transform={() => hold(lines.join('\n'))}>
      <Text> </Text>
    </Transform>
  )
}

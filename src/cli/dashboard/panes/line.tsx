// Draws one line of a frame as it is. Ink remembers the size of every text that it has ever laid out. Our lines contain
// ages and change all the time: they would fill the memory of a dashboard that stays open for days. So Ink lays out
// a blank, and we put the line in its place; the line has the right width already.
import { Text, Transform } from 'ink'
import { createContext, useContext } from 'react'
import { cutTo } from '../../../lib/display-width.js'
import { type Look, styled, type Theme } from '../style.js'

/** Gives what Ink draws for a line: the line itself, or a character by which a screen finds the line again. */
export const DrawnLine = createContext((text: string) => text)

/** `text` may be plain or styled; it must fit into the terminal. */
export function Line({ text }: { text: string }) {
  const drawn = useContext(DrawnLine)
  return (
    <Transform transform={() => (text === '' ? ' ' : drawn(text))}>
      <Text> </Text>
    </Transform>
  )
}

interface CutProps {
  readonly text: string
  readonly width: number
  readonly look?: Look
  readonly theme: Theme
}

/** Draws a plain text in one look, cut to the width. */
export function CutLine({ text, width, look = 'normal', theme }: CutProps) {
  return <Line text={styled(cutTo(text, width), look, theme)} />
}

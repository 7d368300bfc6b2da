// One line of a frame, drawn as it is. Ink remembers the measures of every text that it has ever laid out: with ages in
// them, lines would fill the memory of a dashboard that stays open for days. So what is laid out is a blank, and the line,
// which is of the right width already, is put in its place.
import { Text, Transform } from 'ink'
import { createContext, useContext } from 'react'
import { cutTo } from '../../../lib/display-width.js'
import { type Look, styled, type Theme } from '../style.js'

/** What is drawn for a line: itself, or the character by which a screen finds it again. */
export const DrawnLine = createContext((text: string) => text)

/** `text` is plain or styled, and fits. */
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

/** A plain text of one look, cut to the width. */
export function CutLine({ text, width, look = 'normal', theme }: CutProps) {
  return <Line text={styled(cutTo(text, width), look, theme)} />
}

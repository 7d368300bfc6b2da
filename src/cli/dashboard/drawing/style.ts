// Styles texts. No fact is shown only by its style: states are also words, and the selected line has a mark.
import { cutTo } from '../../../lib/display-width.js'
import type { Tone } from './columns.js'

/** `mono` is for NO_COLOR: it uses bold, dim and reversed text. `plain` has no escape sequences. */
export type Theme = 'color' | 'mono' | 'plain'

export type Look = Tone | 'strong' | 'chosen'

/** The codes of the escape sequences that begin and end a style. */
type Codes = readonly [begin: number, end: number]

const BOLD: Codes = [1, 22]
const CODES: { readonly [name in Look]: Codes | null } = {
  normal: null,
  good: [32, 39],
  warn: [33, 39],
  bad: [31, 39],
  dim: [2, 22],
  strong: BOLD,
  chosen: [7, 27]
}
const MONO: { readonly [name in Look]: Codes | null } = { ...CODES, good: null, warn: BOLD, bad: BOLD }

/** Returns the text with the escape sequences of its style. */
export function styled(text: string, look: Look, theme: Theme): string {
  const codes = theme === 'plain' ? null : (theme === 'mono' ? MONO : CODES)[look]
  return codes === null ? text : `\u001B[${codes[0]}m${text}\u001B[${codes[1]}m`
}

export interface CutOptions {
  readonly width: number
  readonly look?: Look
  readonly theme: Theme
}

/** Returns plain text in one style, cut to the width. */
export const cutLine = (text: string, { width, look = 'normal', theme }: CutOptions) =>
  styled(cutTo(text, width), look, theme)

// How texts look. Nothing is told by looks alone: states are words, the chosen line has a mark.
import type { TextProps } from 'ink'
import type { Tone } from './tables.js'

/** `mono` is NO_COLOR: bold, dim and reversed texts; `plain` has no escapes at all. */
export type Theme = 'color' | 'mono' | 'plain'

export type Look = Tone | 'strong' | 'chosen'

const COLORS: { readonly [name in Look]: TextProps } = {
  normal: {},
  good: { color: 'green' },
  warn: { color: 'yellow' },
  bad: { color: 'red' },
  dim: { dimColor: true },
  strong: { bold: true },
  chosen: { inverse: true }
}

/** The properties of a text in a theme. */
export function styleOf(look: Look, theme: Theme): TextProps {
  if (theme === 'plain') return {}
  const style = COLORS[look]
  if (theme === 'mono' && style.color !== undefined) return look === 'good' ? {} : { bold: true }
  return style
}

// Translates key presses to the names in the keymap. When a user types or pastes quickly, a terminal sends several keys at once.
import type { Key } from 'ink'

const SPECIAL: readonly (readonly [flag: keyof Key, name: string])[] = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'esc'],
  ['backspace', 'backspace'],
  ['delete', 'backspace']
]

/** Returns the names of the pressed keys, in order. */
export function keysOf(input: string, key: Key): string[] {
  if (key.tab) return [key.shift ? 'shift-tab' : 'tab']
  const special = SPECIAL.find(([flag]) => key[flag])
  if (special) return [special[1]]
  if (key.meta) return []
  if (key.ctrl) return [`ctrl-${input}`]
  return [...input].map(nameOf).filter(name => name !== '')
}

function nameOf(character: string): string {
  if (character === '\r' || character === '\n') return 'enter'
  if (character === '\t') return 'tab'
  if (character === '\x7f' || character === '\b') return 'backspace'
  if (character >= ' ') return character
  return `ctrl-${String.fromCharCode(character.charCodeAt(0) + 96)}`
}

// Lists the keys, from the table that the app uses.

import { cutLine } from '../drawing/style.js'
import { helpLines as keys } from '../keymap.js'

/** Takes twenty lines, so a terminal of 24 lines shows all keys. */
export const helpLines = (width: number) =>
  keys().map(({ keys, about }) => cutLine(`  ${keys.padEnd(17)}${about}`, { width, theme: 'plain' }))

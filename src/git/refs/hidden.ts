// The refs that git hides from clients: refs that belong to the appliance, and names that git could confuse with others.
import { HIDDEN_PREFIXES } from './refs.js'

/** The prefixes for transfer.hideRefs. */
export const HIDDEN_REFS: readonly string[] = [
  ...HIDDEN_PREFIXES,
  'refs/refs/',
  'refs/heads/refs/',
  'refs/tags/refs/',
  'refs/remotes/refs/'
]

/** Returns true when clients may not see a ref. */
export const isHidden = (name: string): boolean =>
  HIDDEN_REFS.some(prefix => name.startsWith(prefix) || name === prefix.slice(0, -1))

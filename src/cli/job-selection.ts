import { BadParameters } from '../errors.js'

/** The jobs that a command is to change: by their numbers, or all dead ones. Throws BadParameters. */
export function jobSelection(words: readonly string[], dead = false): number[] | 'dead' {
  const ids = words.map(word => (/^[1-9]\d{0,14}$/.test(word) ? Number(word) : 0))
  if (dead === ids.length > 0 || ids.includes(0)) {
    const text = 'name jobs by their numbers, or all dead ones by --dead'
    throw new BadParameters(text, text)
  }
  return dead ? 'dead' : [...new Set(ids)]
}

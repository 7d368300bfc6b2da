// Parses the regular expressions of a CI file. Such patterns are written for Ruby. JavaScript understands most of them, but
// silently misreads some (`\A` as the letter A). Here, an unsupported part is an error, not a pattern that never matches.

export type Node =
  | { readonly kind: 'character'; readonly test: (character: string) => boolean }
  | { readonly kind: 'assert'; readonly place: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly kind: 'look'; readonly node: Node; readonly negative: boolean }
  | { readonly kind: 'sequence'; readonly nodes: readonly Node[] }
  | { readonly kind: 'choice'; readonly nodes: readonly Node[] }
  | {
      readonly kind: 'repeat'
      readonly node: Node
      readonly least: number
      readonly most: number
      readonly greedy: boolean
    }
  | { readonly kind: 'group'; readonly node: Node; readonly slot: number }

/** Why a pattern is refused. The message continues a sentence that begins with the pattern: `has an unclosed group`. */
export class PatternError extends Error {}

const PATTERN_LIMIT = 255

interface Cursor {
  readonly text: string
  at: number
  groups: number
  readonly ignoreCase: boolean
  looking: boolean
}

/** Parses the text between the slashes. Throws PatternError. */
export function parsePattern(text: string, ignoreCase: boolean): { node: Node; groups: number } {
  if (text.length > PATTERN_LIMIT) throw new PatternError(`is longer than ${PATTERN_LIMIT} characters`)
  const inline = /^\(\?i\)/.test(text)
  const cursor = { text, at: inline ? 4 : 0, groups: 0, ignoreCase: ignoreCase || inline, looking: false }
  const node = choice(cursor)
  if (cursor.at < text.length) throw new PatternError('has a `)` without its `(`')
  return { node, groups: cursor.groups }
}

function choice(cursor: Cursor): Node {
  const nodes = [sequence(cursor)]
  while (take(cursor, '|')) nodes.push(sequence(cursor))
  return nodes.length === 1 && nodes[0] ? nodes[0] : { kind: 'choice', nodes }
}

function sequence(cursor: Cursor): Node {
  const nodes: Node[] = []
  while (cursor.at < cursor.text.length && !'|)'.includes(peek(cursor))) nodes.push(quantified(cursor))
  return { kind: 'sequence', nodes }
}

function quantified(cursor: Cursor): Node {
  const node = atom(cursor)
  const counts = quantifier(cursor)
  if (!counts) return node
  if (node.kind === 'assert' || node.kind === 'look') throw new PatternError('repeats something without a length')
  const [least, most] = counts
  if (most < least) throw new PatternError('has a repeat with its limits in the wrong order')
  const greedy = !take(cursor, '?')
  if (quantifier(cursor)) throw new PatternError('repeats a repeat (put the first in a group)')
  return { kind: 'repeat', node, least, most, greedy }
}

function quantifier(cursor: Cursor): [least: number, most: number] | undefined {
  if (take(cursor, '*')) return [0, Number.POSITIVE_INFINITY]
  if (take(cursor, '+')) return [1, Number.POSITIVE_INFINITY]
  if (take(cursor, '?')) return [0, 1]
  const counted = /^\{(\d{1,4})(,?)(\d{0,4})\}/.exec(cursor.text.slice(cursor.at))
  if (!counted) return undefined
  cursor.at += counted[0].length
  const least = Number(counted[1])
  if (!counted[2]) return [least, least]
  return [least, counted[3] ? Number(counted[3]) : Number.POSITIVE_INFINITY]
}

function atom(cursor: Cursor): Node {
  const character = peek(cursor)
  if (character === '(') return group(cursor)
  if (character === '[') return characterClass(cursor)
  if (character === '\\') return escaped(cursor)
  if (quantifier(cursor)) throw new PatternError(`has a \`${character}\` with nothing to repeat`)
  cursor.at++
  if (character === '^') return { kind: 'assert', place: 'start' }
  if (character === '$') return { kind: 'assert', place: 'end' }
  if (character === '.') return { kind: 'character', test: () => true }
  return literal(character, cursor)
}

function group(cursor: Cursor): Node {
  cursor.at++
  if (take(cursor, '?:')) return closed(cursor, choice)
  if (take(cursor, '?=')) return look(cursor, false)
  if (take(cursor, '?!')) return look(cursor, true)
  const named = /^\?<[A-Za-z_]\w*>/.exec(cursor.text.slice(cursor.at))
  if (named) cursor.at += named[0].length
  else if (peek(cursor) === '?') throw new PatternError('has a kind of group that is not supported')
  cursor.groups++
  const slot = cursor.groups
  return { kind: 'group', node: closed(cursor, choice), slot }
}

function look(cursor: Cursor, negative: boolean): Node {
  if (cursor.looking) throw new PatternError('has a look-ahead within a look-ahead')
  cursor.looking = true
  const node = closed(cursor, choice)
  cursor.looking = false
  return { kind: 'look', node, negative }
}

function closed(cursor: Cursor, inner: (cursor: Cursor) => Node): Node {
  const node = inner(cursor)
  if (!take(cursor, ')')) throw new PatternError('has a `(` without its `)`')
  return node
}

/** Reads a class. JavaScript's own engine tests it later, with one character at a time. */
function characterClass(cursor: Cursor): Node {
  const written = /^\[\^?(?:[^\]\\]|\\.)+\]/s.exec(cursor.text.slice(cursor.at))?.[0]
  if (written === undefined) throw new PatternError('has a `[` without its `]`, or with nothing in it')
  if (written.slice(1).replace(/\\./gs, '').includes('['))
    throw new PatternError('has a `[` within a class (write `\\[`)')
  cursor.at += written.length
  const translated = written.replace(/\\(.)/gs, (whole, letter: string) => {
    if (letter === 'h') return '0-9a-fA-F'
    if (/[a-zA-Z0-9]/.test(letter) && !'dDwWsSnrtfvbxu'.includes(letter)) throw unknownEscape(letter)
    return whole
  })
  return native(translated, cursor)
}

const anchors: Record<string, 'start' | 'end' | 'boundary' | 'inside'> = {
  A: 'start',
  Z: 'end',
  z: 'end',
  b: 'boundary',
  B: 'inside'
}

function escaped(cursor: Cursor): Node {
  const letter = cursor.text[cursor.at + 1]
  if (letter === undefined) throw new PatternError('ends with a single `\\`')
  cursor.at += 2
  const place = anchors[letter]
  if (place) return { kind: 'assert', place }
  if (letter === 'h') return native('[0-9a-fA-F]', cursor)
  if ('dDwWsSnrtfv'.includes(letter)) return native(`\\${letter}`, cursor)
  const hexadecimal = /^(?:x[0-9a-f]{2}|u[0-9a-f]{4})/i.exec(cursor.text.slice(cursor.at - 1))?.[0]
  if (hexadecimal && 'xu'.includes(letter)) {
    cursor.at += hexadecimal.length - 1
    return native(`\\${hexadecimal}`, cursor)
  }
  if (/[a-zA-Z0-9]/.test(letter)) throw unknownEscape(letter)
  return literal(letter, cursor)
}

const unknownEscape = (letter: string) => new PatternError(`has \`\\${letter}\`, which is not supported`)

function native(source: string, cursor: Cursor): Node {
  try {
    const expression = new RegExp(`^${source}$`, cursor.ignoreCase ? 'i' : '')
    return { kind: 'character', test: character => expression.test(character) }
  } catch {
    throw new PatternError(`has a class that is not valid: ${source}`)
  }
}

function literal(character: string, cursor: Cursor): Node {
  if (!cursor.ignoreCase) return { kind: 'character', test: other => other === character }
  const folded = character.toLowerCase()
  return { kind: 'character', test: other => other.toLowerCase() === folded }
}

const peek = (cursor: Cursor) => cursor.text[cursor.at] ?? ''

function take(cursor: Cursor, expected: string): boolean {
  if (!cursor.text.startsWith(expected, cursor.at)) return false
  cursor.at += expected.length
  return true
}

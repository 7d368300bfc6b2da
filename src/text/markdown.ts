// Reads the parts of a Markdown text that can have references: no code, no quotes, no HTML. A library does the parsing.
import MarkdownIt from 'markdown-it'

/**
 * How many characters of a text are read for references, mentions and commands: the library takes up to 4 microseconds for
 * each, and nothing else runs during that time.
 */
export const LONGEST_READ = 200_000

/** How many characters are read at once, which takes up to 5 milliseconds. Longer texts are read on a thread (reading.ts). */
export const SHORT_TEXT = 4096

/** Replaces the parts that are not read, so that the words around them do not become neighbours. */
const GAP = '\ufffc'
/** A backslash before one of these means the character itself. Before other characters it does not matter here. */
const SIGNS = new Set(['#', '!', '~', '%', '@', '$', '/'])

const markdown = new MarkdownIt({ html: true, linkify: false, typographer: false, maxNesting: 20 })
// Table cells are read like other text. Escaped characters must stay separate from their neighbours.
markdown.disable(['table', 'text_join'])

type Token = ReturnType<typeof markdown.parse>[number]

/** A paragraph or heading: its text, with links as their URLs. */
export interface Passage {
  readonly text: string
  /** The lines of the whole text at which the lines of this text begin; null when they are unknown. */
  readonly lines: readonly number[] | null
}

/** Returns the passages of a text, without its code, quotes and HTML. Reads the first LONGEST_READ characters. */
export function passagesOf(text: string): Passage[] {
  const passages: Passage[] = []
  let quotes = 0
  for (const token of markdown.parse(text.slice(0, LONGEST_READ), {})) {
    if (token.type === 'blockquote_open') quotes++
    else if (token.type === 'blockquote_close') quotes--
    else if (token.type === 'inline' && quotes === 0) passages.push(passageOf(token))
  }
  return passages
}

/** A passage, and the positions of its characters in the whole text. */
export interface PlacedPassage {
  readonly text: string
  /** Returns the position of a character in the whole text; null when it is unknown. */
  readonly placeOf: (at: number) => number | null
}

/** Returns the passages of a text with their positions, as far as passagesOf reads it. */
export function placedPassages(text: string): PlacedPassage[] {
  const source = text.slice(0, LONGEST_READ)
  const starts = lineStarts(source)
  const passages: PlacedPassage[] = []
  let quotes = 0
  for (const token of markdown.parse(source, {})) {
    if (token.type === 'blockquote_open') quotes++
    else if (token.type === 'blockquote_close') quotes--
    else if (token.type === 'inline' && quotes === 0) passages.push(placedPassage(token, source, starts))
  }
  return passages
}

/** Line ends are those of the library. */
const lineStarts = (text: string): number[] => [
  0,
  ...[...text.matchAll(/\r\n?|\n/g)].map(({ index, 0: end }) => index + end.length)
]

/** Kinds of tokens whose content is unchanged in the text. */
const WRITTEN = new Set(['text', 'code_inline', 'html_inline'])

interface Piece {
  /** The position in the text of the passage. */
  readonly from: number
  readonly length: number
  /** The position in the whole text. */
  readonly place: number
}

/** Finds the words of a passage in the whole text, each after the one before. It stops at the first word that it cannot find. */
function placedPassage({ children, map }: Token, source: string, starts: readonly number[]): PlacedPassage {
  const [first, last] = map ?? [0, 0]
  const start = starts[first] ?? source.length
  const own = source.slice(start, starts[last] ?? source.length)
  const pieces: Piece[] = []
  let cursor = 0
  let text = ''
  for (const { token, words } of readTokens(children ?? [])) {
    if (cursor !== -1 && WRITTEN.has(token.type) && token.content !== '') {
      const place = own.indexOf(token.content, cursor)
      if (place !== -1 && token.type === 'text' && words !== null)
        pieces.push({ from: text.length, length: words.length, place: start + place })
      cursor = place === -1 ? -1 : place + token.content.length
    }
    text += words ?? ''
  }
  return { text, placeOf: at => placeIn(pieces, at) }
}

function placeIn(pieces: readonly Piece[], at: number): number | null {
  let [low, high] = [0, pieces.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((pieces[middle]?.from ?? 0) <= at) low = middle + 1
    else high = middle
  }
  const piece = pieces[low - 1]
  return piece && at < piece.from + piece.length ? piece.place + at - piece.from : null
}

function passageOf({ children, map }: Token): Passage {
  const text = readable(children ?? [])
  const [first, end] = map ?? [0, 0]
  const count = text.split('\n').length
  // Code and HTML may span several lines. Then the lines cannot be matched.
  return { text, lines: end - first === count ? Array.from({ length: count }, (_, at) => first + at) : null }
}

const readable = (tokens: readonly Token[]): string => [...readTokens(tokens)].map(({ words }) => words ?? '').join('')

/** Yields the tokens of a passage with their words; null for tokens in links and code, which are not read. */
function* readTokens(tokens: readonly Token[]): Generator<{ readonly token: Token; readonly words: string | null }> {
  let links = 0
  let code = 0
  for (const token of tokens) {
    if (token.type === 'link_close') links--
    if (token.type === 'html_inline') code = Math.max(0, code + codeDepth(token.content))
    yield { token, words: links === 0 && code === 0 ? wordsOf(token) : null }
    if (token.type === 'link_open') links++
  }
}

function wordsOf(token: Token): string {
  switch (token.type) {
    case 'text':
      return token.content
    case 'text_special':
      return SIGNS.has(token.content) ? GAP : token.content
    case 'softbreak':
    case 'hardbreak':
      return '\n'
    case 'link_open':
      return `${token.attrGet('href') ?? ''} `
    case 'code_inline':
    case 'html_inline':
    case 'image':
      return GAP
    default:
      return ''
  }
}

/** 1 for a tag that begins code, -1 for one that ends it. */
function codeDepth(tag: string): number {
  if (/^<(code|pre|kbd)\b/i.test(tag)) return 1
  return /^<\/(code|pre|kbd)\b/i.test(tag) ? -1 : 0
}

// Reads the parts of a Markdown text that mean something: no code, no quotes, no HTML. A library does the parsing.
import MarkdownIt from 'markdown-it'

/**
 * Characters of a text that are read for references, mentions and commands: the library takes up to 4 microseconds for
 * each, and nothing else runs meanwhile.
 */
export const LONGEST_READ = 200_000

/** Stands for what is not read, so that the words around it do not become neighbours. */
const GAP = '\ufffc'
/** A backslash before one of these means the sign itself. Before others it changes nothing that we look for. */
const SIGNS = new Set(['#', '!', '~', '%', '@', '$', '/'])

const markdown = new MarkdownIt({ html: true, linkify: false, typographer: false, maxNesting: 20 })
// Cells are read like other text. Escaped signs must stay apart from their neighbours.
markdown.disable(['table', 'text_join'])

type Token = ReturnType<typeof markdown.parse>[number]

/** A paragraph or heading: its text, with links as their URLs. */
export interface Passage {
  readonly text: string
  /** The lines of the whole text at which the lines of this text begin; null when they are not known. */
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

function passageOf({ children, map }: Token): Passage {
  const text = readable(children ?? [])
  const [first, end] = map ?? [0, 0]
  const count = text.split('\n').length
  // Code and HTML may go over several lines. Then it is not known which line is which.
  return { text, lines: end - first === count ? Array.from({ length: count }, (_, at) => first + at) : null }
}

function readable(tokens: readonly Token[]): string {
  const parts: string[] = []
  let links = 0
  let code = 0
  for (const token of tokens) {
    if (token.type === 'link_close') links--
    if (token.type === 'html_inline') code = Math.max(0, code + codeDepth(token.content))
    if (links === 0 && code === 0) parts.push(wordsOf(token))
    if (token.type === 'link_open') links++
  }
  return parts.join('')
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

// Renders Markdown for pages. HTML in a text stays visible text. The result does not depend on its reader: it has gaps at its
// references, which are filled with links where the reader may see what they refer to.
import MarkdownIt from 'markdown-it'
import { emojiCharacters } from './emoji.js'
import { highlightFence } from './highlight.js'
import { LONGEST_READ } from './markdown.js'
import { HEADING, imageOf, linkOf, type TextContext } from './page-links.js'
import { placedMentions, placedReferences, type Reference } from './references.js'

/** A reference or a mention at one place of a text. */
export interface Gap {
  readonly reference: Reference | { readonly kind: 'mention'; readonly project: null; readonly name: string }
  /** The words of the text, as HTML. */
  readonly words: string
}

/** The HTML of a text: each gap is between two parts. */
export interface TextPieces {
  readonly parts: readonly string[]
  readonly gaps: readonly Gap[]
}

/** How many references of one text become links. */
const MOST_GAPS = 1000
/** How many headings of one file have addresses. */
const MOST_HEADINGS = 1000
/** Characters of HTML. A few hundred kilobytes of text may become megabytes. */
const LONGEST_HTML = 1_048_576
/** How many characters of a text that is too long for formatting are shown. */
const MOST_PLAIN = 500_000

/** The text that is being rendered: the rules below need these. */
let context: TextContext = { project: null }
let gaps: Gap[] = []
/** How many headings have the same words. */
let headings = new Map<string, number>()
let addressed = 0

const markdown = new MarkdownIt({ html: false, linkify: true, maxNesting: 20 })
// Only whole URLs are links: the other guesses of the library take long on some texts.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })

type Token = ReturnType<typeof markdown.parse>[number]
const { escapeHtml } = markdown.utils

/** Marks a gap. The library replaces this character in texts. */
const MARK = '\0'

/** Returns a Markdown text as HTML that is safe to show. */
export function pageHtml(text: string, where: TextContext): TextPieces {
  if (text.length > LONGEST_READ) return { parts: [plainHtml(text)], gaps: [] }
  context = where
  gaps = []
  headings = new Map()
  addressed = 0
  const html = markdown.render(text)
  return html.length > LONGEST_HTML ? { parts: [plainHtml(text)], gaps: [] } : { parts: html.split(MARK), gaps }
}

/** Returns a text without formatting, which says why. */
export function plainHtml(text: string, why = 'This text is too long to be formatted.'): string {
  const cut = text.length > MOST_PLAIN ? ` Only its first ${MOST_PLAIN} characters are shown.` : ''
  const words = escapeHtml(text.slice(0, MOST_PLAIN).replaceAll(MARK, '\ufffd'))
  return `<p class="hint">${why}${cut}</p>\n<pre tabindex="0">${words}</pre>\n`
}

/** Where the words of a paragraph are that may have references: not in code, links and images, and not escaped. */
const UNREAD = '\ufffc'

/** It takes the place of a rule that joins neighbouring texts, and does the same. */
markdown.core.ruler.at('text_join', state => {
  for (const [at, token] of state.tokens.entries()) {
    if (token.type !== 'inline' || !token.children) continue
    pointLinks(token.children)
    token.children = withGaps(token.children, state.Token)
    if (isTask(state.tokens, at)) makeTask(token.children, state.tokens[at - 2], state.Token)
  }
})

function pointLinks(tokens: readonly Token[]): void {
  for (const token of tokens) {
    if (token.type !== 'link_open') continue
    const url = linkOf(String(token.attrGet('href') ?? ''), context)
    const title = token.attrGet('title')
    token.attrs =
      url === null
        ? []
        : [
            ['href', url],
            ['rel', 'nofollow noopener']
          ]
    if (title !== null && url !== null) token.attrSet('title', title)
  }
}

/** Joins texts, and makes tokens of their references and emoji. */
function withGaps(tokens: readonly Token[], Kind: new (type: string, tag: string, nesting: 0) => Token): Token[] {
  const { read, runs } = readable(tokens)
  const found = findings(read)
  const made: Token[] = []
  const add = (type: string, content: string) => {
    const token = new Kind(type, '', 0)
    token.content = content
    made.push(token)
  }
  let next = 0
  for (const { from, words, token } of runs) {
    if (token) {
      made.push(token)
      continue
    }
    let done = 0
    for (; next < found.length; next++) {
      const here = found[next]
      if (!here || here.at >= from + words.length) break
      const start = here.at - from
      // A reference over the border of two tokens stays as it is.
      if (start < done || start + here.length > words.length) continue
      if (start > done) add('text', words.slice(done, start))
      done = start + here.length
      if (typeof here.shows === 'string') add('text', here.shows)
      else if (gaps.length < MOST_GAPS) {
        add('gap', words.slice(start, done))
        gaps.push({ reference: here.shows, words: escapeHtml(words.slice(start, done)) })
      } else add('text', words.slice(start, done))
    }
    if (done < words.length) add('text', words.slice(done))
  }
  return made
}

interface Run {
  /** The position in what is read. */
  readonly from: number
  readonly words: string
  /** A token that is not text. */
  readonly token?: Token
}

/** Returns the words of a paragraph for reading, and its tokens with neighbouring texts joined. */
function readable(tokens: readonly Token[]): { read: string; runs: Run[] } {
  const runs: Run[] = []
  let read = ''
  let links = 0
  let run: { from: number; words: string } | undefined
  for (const token of tokens) {
    const isSpecial = token.type === 'text_special'
    if (token.type === 'text' || isSpecial) {
      if (!run) {
        run = { from: read.length, words: '' }
        runs.push(run)
      }
      // The library decodes the text of a URL.
      const words = token.content.replaceAll(MARK, '\ufffd')
      run.words += words
      read += links > 0 || isSpecial ? UNREAD.repeat(words.length) : words
      continue
    }
    run = undefined
    runs.push({ from: read.length, words: '', token })
    if (token.type === 'link_open') links++
    if (token.type === 'link_close') links--
    if (token.type === 'softbreak' || token.type === 'hardbreak') read += '\n'
    if (token.type === 'code_inline' || token.type === 'image') read += UNREAD
    if (token.type === 'image') token.children = joined(token.children ?? [])
  }
  return { read, runs }
}

/** The alternative text of an image has no references. */
function joined(tokens: readonly Token[]): Token[] {
  for (const token of tokens) if (token.type === 'text_special') token.type = 'text'
  return [...tokens]
}

interface Finding {
  readonly at: number
  readonly length: number
  /** The characters of an emoji, or a reference. */
  readonly shows: string | Gap['reference']
}

const EMOJI = /(?<![\p{L}\p{N}_:]):([a-z0-9_+-]{1,64}):/gu

/** Returns what is found in the words of a paragraph, in their order. Of two that overlap, the first counts. */
function findings(read: string): Finding[] {
  const found: Finding[] = []
  for (const { index: at, 0: all, 1: name = '' } of read.matchAll(EMOJI)) {
    const shows = emojiCharacters(name)
    if (shows !== undefined) found.push({ at, length: all.length, shows })
  }
  for (const { at, length, reference } of placedReferences(read)) found.push({ at, length, shows: reference })
  for (const { at, length, reference: name } of placedMentions(read)) {
    found.push({ at, length, shows: { kind: 'mention', project: null, name } })
  }
  return found.sort((a, b) => a.at - b.at)
}

/** Whether a paragraph is the first of an item of a list, and begins with a box. */
const isTask = (tokens: readonly Token[], at: number): boolean =>
  tokens[at - 1]?.type === 'paragraph_open' &&
  tokens[at - 2]?.type === 'list_item_open' &&
  tokens[at]?.children?.[0]?.type === 'text' &&
  /^\[[ xX]\]\s/.test(tokens[at]?.children?.[0]?.content ?? '')

function makeTask(
  words: Token[],
  item: Token | undefined,
  Kind: new (type: string, tag: string, nesting: 0) => Token
): void {
  const first = words[0]
  if (!first) return
  const box = new Kind('task', '', 0)
  box.content = /^\[ /.test(first.content) ? '' : 'x'
  first.content = first.content.slice(3)
  words.unshift(box)
  item?.attrJoin('class', 'task')
}

const { rules } = markdown.renderer

rules.gap = () => MARK
rules.task = (tokens, at) =>
  tokens[at]?.content === ''
    ? '<input type="checkbox" disabled aria-label="To do">'
    : '<input type="checkbox" disabled checked aria-label="Done">'
// Lines of a note are lines; those of a file are as long as its editor was wide.
rules.softbreak = () => (context.file ? '\n' : '<br>\n')

rules.image = (tokens, at, options, env, renderer) => {
  const token = tokens[at]
  if (!token) return ''
  const link = String(token.attrGet('src') ?? '')
  const words = escapeHtml(renderer.renderInlineAsText(token.children ?? [], options, env))
  const source = imageOf(link, context)
  if (source !== null) return `<img src="${escapeHtml(source)}" alt="${words}" loading="lazy">`
  const url = isInLink(tokens, at) ? null : linkOf(link, context)
  const shown = words || 'image'
  return url === null ? shown : `<a href="${escapeHtml(url)}" rel="nofollow noopener">${shown}</a>`
}

function isInLink(tokens: readonly Token[], end: number): boolean {
  let links = 0
  for (const { type } of tokens.slice(0, end)) links += type === 'link_open' ? 1 : type === 'link_close' ? -1 : 0
  return links > 0
}

// The page has the only heading of the first level.
const lower = (tag: string) => `h${Math.min(Number(tag.slice(1)) + 1, 6)}`

rules.heading_open = (tokens, at) => {
  const tag = lower(tokens[at]?.tag ?? 'h1')
  if (!context.file || ++addressed > MOST_HEADINGS) return `<${tag}>`
  const slug = slugWords(tokens[at + 1])
  headings.set(slug, (headings.get(slug) ?? 0) + 1)
  return `<${tag} id="${idOf(slug)}">`
}

rules.heading_close = (tokens, at) => {
  const tag = lower(tokens[at]?.tag ?? 'h1')
  if (!context.file || addressed > MOST_HEADINGS) return `</${tag}>\n`
  const id = idOf(slugWords(tokens[at - 1]))
  return ` <a class="anchor" href="#${id}" aria-hidden="true" tabindex="-1">#</a></${tag}>\n`
}

/** Returns the id of the last heading with these words, numbered when the text has several. */
function idOf(slug: string): string {
  const number = headings.get(slug) ?? 1
  return `${HEADING}${slug}${number > 1 ? `-${number - 1}` : ''}`
}

const slugWords = (token: Token | undefined): string =>
  (token?.children ?? [])
    .filter(({ type }) => type === 'text' || type === 'gap' || type === 'code_inline')
    .map(({ content }) => content)
    .join('')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-')
    .slice(0, 100) || 'section'

// Wide tables scroll in a region of their own, which keys can scroll, too.
rules.table_open = () => '<div class="wide" tabindex="0"><table>\n'
rules.table_close = () => '</table></div>\n'
rules.th_open = (...args) => cellOf('<th scope="col"', args[0][args[1]])
rules.td_open = (...args) => cellOf('<td', args[0][args[1]])

/** The policy of pages allows no styles in attributes. */
function cellOf(start: string, token: Token | undefined): string {
  const side = /:(right|center)$/.exec(String(token?.attrGet('style') ?? ''))?.[1]
  return side ? `${start} class="${side}">` : `${start}>`
}

rules.fence = (tokens, at) => {
  const { info = '', content = '' } = tokens[at] ?? {}
  const language = /^[\w+#.-]{1,40}/.exec(info.trim())?.[0] ?? ''
  return codeHtml((language && highlightFence(language, content)) || escapeHtml(content))
}
rules.code_block = (tokens, at) => codeHtml(escapeHtml(tokens[at]?.content ?? ''))

const codeHtml = (html: string) => `<pre tabindex="0"><code>${html}</code></pre>\n`

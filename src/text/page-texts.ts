// The way to texts and code for pages: rendered on a thread of their own, so that pages do not delay changes, and kept by content.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { memoryOf } from '../lib/bytes.js'
import { LONGEST_CODE, MOST_LINES } from './highlight.js'
import { languageOfFile } from './languages.js'
import { SHORT_TEXT } from './markdown.js'
import { plainHtml, type TextPieces } from './page-html.js'
import type { TextContext } from './page-links.js'
import { Busy, TextThread } from './text-thread.js'
import { workOn } from './work.js'

/** The limit in seconds is a few times as long as the thread needs for the longest text. What takes longer is shown plain. */
const thread = new TextThread(5)
/**
 * Milliseconds that the thread has for all texts of one page. Those that follow are shown plain, and may be formatted when the page is
 * opened again, because the page then finds the first ones.
 */
const PATIENCE = 2000
const LATE = 'This text is not formatted, because formatting this page takes too long.'
/** Milliseconds for which such a text is shown plain: it may have been the machine that was slow. */
const AGAIN = { ttl: 60_000 }

/** Bytes. */
const MOST = 8 * 1024 * 1024
const EXTRA = 300

const texts = new LRUCache<string, TextPieces>({
  maxSize: MOST,
  sizeCalculation: ({ parts, gaps }, key) =>
    EXTRA + memoryOf(key) + gaps.length * EXTRA + parts.reduce((sum, part) => sum + memoryOf(part), 0)
})
/** An empty text stands for code that takes too long. */
const codes = new LRUCache<string, string>({ maxSize: 2 * MOST, sizeCalculation: code => EXTRA + memoryOf(code) })

/** Most notes are short: they are their own key, which takes less time than a digest. */
const SHORT_KEY = 300

const keyOf = (context: string, text: string): string =>
  text.length <= SHORT_KEY
    ? `${context}\0${text}`
    : createHash('sha1').update(context).update('\0').update(text).digest('base64')

/** The texts that the thread has now. */
const underway = new Map<string, Promise<unknown>>()

/** Calls `make` unless another view is making the same: then both get what it keeps. If it keeps nothing, each calls its own. */
async function shared<Made>(
  key: string,
  cache: { get(key: string): Made | undefined },
  make: () => Promise<Made>
): Promise<Made> {
  const running = underway.get(key)
  if (running) {
    await running
    const kept = cache.get(key)
    if (kept !== undefined) return kept
  }
  const made = make()
  underway.set(key, made)
  try {
    return await made
  } finally {
    if (underway.get(key) === made) underway.delete(key)
  }
}

/** A block of code in a language is highlighted, which only the thread can. */
const HIGHLIGHTED = /(?:```|~~~) {0,10}[\w#]/

/** Returns Markdown texts with the same context as HTML that is safe to show, with gaps at their references. */
export async function pageTexts(
  wanted: readonly string[],
  context: TextContext,
  patience = PATIENCE
): Promise<TextPieces[]> {
  const about = JSON.stringify(context)
  const found: TextPieces[] = []
  let room = SHORT_TEXT
  const end = Date.now() + patience
  for (const text of wanted) {
    const key = keyOf(about, text)
    const kept = texts.get(key)
    if (kept) {
      found.push(kept)
      continue
    }
    const isShort = text.length <= room && !HIGHLIGHTED.test(text)
    if (isShort) room -= text.length
    found.push(
      isShort
        ? keep(key, workOn({ name: 'toPage', texts: [text], context: about })[0])
        : Date.now() < end
          ? await shared(key, texts, () => onThread(key, text, about))
          : plain(text, LATE)
    )
  }
  return found
}

const plain = (text: string, why?: string): TextPieces => ({ parts: [plainHtml(text, why)], gaps: [] })

function keep(key: string, pieces = plain(''), options?: typeof AGAIN): TextPieces {
  texts.set(key, pieces, options)
  return pieces
}

/** Never throws: returns the text without formatting when too many texts wait, or when it takes too long. */
async function onThread(key: string, text: string, context: string): Promise<TextPieces> {
  try {
    const [pieces] = await thread.run({ name: 'toPage', texts: [text], context })
    return keep(key, pieces)
  } catch (error) {
    return error instanceof Busy ? plain(text, LATE) : keep(key, plain(text), AGAIN)
  }
}

/**
 * Returns code as HTML of `<span class="hljs-...">` for each of its lines. `id` is that of the blob. Returns null when the code is
 * shown plain: in other languages, when it is too long, and when it takes too long.
 */
export async function highlightedLines(id: string, name: string, code: string): Promise<string[] | null> {
  const language = languageOfFile(name)
  if (!language || code.length > LONGEST_CODE || isTall(code)) return null
  const key = `${language} ${id}`
  const html = codes.get(key) ?? (await shared(key, codes, () => highlighted(key, code, language)))
  return html === '' && code !== '' ? null : html.split('\n')
}

/** Never throws: returns an empty text when too many texts wait, or when it takes too long. */
async function highlighted(key: string, code: string, language: string): Promise<string> {
  try {
    const [html = ''] = await thread.run({ name: 'highlightLines', texts: [code], context: language })
    codes.set(key, html)
    return html
  } catch (error) {
    if (!(error instanceof Busy)) codes.set(key, '', AGAIN)
    return ''
  }
}

function isTall(code: string): boolean {
  let lines = 0
  for (let at = code.indexOf('\n'); at !== -1; at = code.indexOf('\n', at + 1)) if (++lines > MOST_LINES) return true
  return false
}

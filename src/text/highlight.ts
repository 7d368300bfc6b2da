// Highlights source code with highlight.js, which only the threads load (text-thread.ts): it takes time and memory.
import { createRequire } from 'node:module'
import type { HLJSApi } from 'highlight.js'
import { languageOfName, languagesInside } from './languages.js'

/** Longer code is shown plain: in characters and lines, and in characters of a block in a text. */
export const LONGEST_CODE = 524_288
export const MOST_LINES = 20_000
const LONGEST_FENCE = 50_000

const load = createRequire(import.meta.url)
let loaded: HLJSApi | undefined
let isAllowed = false

/** Called by the program of a thread. */
export function allowHighlighting(): void {
  isAllowed = true
}

function highlighterFor(language: string): HLJSApi {
  loaded ??= load('highlight.js/lib/core') as HLJSApi
  for (const name of [language, ...languagesInside(language)]) {
    if (!loaded.getLanguage(name)) loaded.registerLanguage(name, load(`highlight.js/lib/languages/${name}`))
  }
  return loaded
}

/** Returns code as HTML of `<span class="hljs-...">`. */
const highlight = (code: string, language: string): string =>
  highlighterFor(language).highlight(code, { language, ignoreIllegals: true }).value

/** Returns the code of a block in a text as HTML; undefined for languages that are not highlighted, and outside of a thread. */
export function highlightFence(name: string, code: string): string | undefined {
  const language = isAllowed && code.length <= LONGEST_FENCE ? languageOfName(name) : undefined
  return language && highlight(code, language)
}

/** Returns code as HTML in which every line has whole elements, so that it can be cut at its line ends. */
export function highlightLines(code: string, language: string): string {
  const open: string[] = []
  // Only attributes need signs for quotes, and code is full of them.
  const lines = highlight(code, language).replaceAll('&#x27;', "'").replaceAll('&quot;', '"').split('\n')
  return lines.map(line => wholeLine(line, open)).join('\n')
}

/** Opens what is open from the line before, and closes what the line leaves open. */
function wholeLine(line: string, open: string[]): string {
  const before = open.join('')
  for (const [tag] of line.matchAll(/<span [^>]*>|<\/span>/g)) {
    if (tag === '</span>') open.pop()
    else open.push(tag)
  }
  return before + line + '</span>'.repeat(open.length)
}

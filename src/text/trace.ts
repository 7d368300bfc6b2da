// Renders the output of builds as HTML: the colours of terminals become classes, sections become <details>, and each line gets a
// number with an anchor. The output may have any bytes: what is not understood is left out or escaped.
//
// A trace grows while somebody follows it. So a part is rendered from a place that an earlier part returned, and only complete lines
// count: the unfinished last line is returned on its own, and comes again with the next part.
import { escapeText } from '../lib/escape-html.js'

/** How the text after a place looks: indexes of the palette, and null for the colours of the page. */
interface Look {
  readonly color: number | null
  readonly back: number | null
  readonly bold: boolean
  readonly italic: boolean
  readonly underline: boolean
  readonly reverse: boolean
}

interface OpenSection {
  readonly name: string
  /** Seconds since 1970. */
  readonly start: number
}

/** Where a part begins. */
export interface TracePlace {
  /** The number of its first line. */
  readonly line: number
  readonly look: Look
  /** The sections that are open there, from the outermost. */
  readonly sections: readonly OpenSection[]
}

export interface RenderedTrace {
  /**
   * HTML of the complete lines. The first piece belongs into the innermost section that was open before; each further one follows
   * after the innermost section has been closed.
   */
  readonly pieces: readonly string[]
  /** HTML of the text after the last complete line. */
  readonly tail: string
  /** The bytes of the complete lines. */
  readonly length: number
  /** The place after them. */
  readonly next: TracePlace
}

const PLAIN: Look = { color: null, back: null, bold: false, italic: false, underline: false, reverse: false }
export const START: TracePlace = { line: 1, look: PLAIN, sections: [] }

/** A longer line is broken, so that a build that never ends its line does not send all of it again and again. */
const LONGEST_LINE = 16_384
const MOST_SECTIONS = 10
const NEWLINE = 0x0a

/** Renders a part of a trace. With `whole`, an unfinished last line counts as complete. */
export function renderTrace(bytes: Buffer, place: TracePlace = START, { whole = false } = {}): RenderedTrace {
  const writer = new Writer(place)
  let at = 0
  for (let end = lineEnd(bytes, at); end !== null; end = lineEnd(bytes, at)) {
    writer.add(textOf(bytes.subarray(at, end)))
    at = end
  }
  const rest = textOf(bytes.subarray(at))
  if (whole && rest !== '') {
    writer.add(rest)
    at = bytes.length
  }
  return {
    pieces: writer.pieces(),
    tail: at < bytes.length ? writer.unfinished(rest) : '',
    length: at,
    next: writer.place()
  }
}

/** Returns the offset after the line at `at`, or null when it is not complete. */
function lineEnd(bytes: Buffer, at: number): number | null {
  const found = bytes.indexOf(NEWLINE, at)
  const end = found < 0 ? Number.POSITIVE_INFINITY : found + 1
  if (end - at <= LONGEST_LINE) return end
  return bytes.length - at >= LONGEST_LINE ? at + LONGEST_LINE : null
}

export interface LastLines {
  /** The offset of the first of them. */
  readonly start: number
  /** Its number, if the bytes are the beginning of the trace. */
  readonly line: number
}

/** Returns where the last lines of a trace begin, of which a page shows at most so many lines and bytes. */
export function lastLines(bytes: Buffer, most: { readonly bytes: number; readonly lines: number }): LastLines {
  const least = bytes.length - most.bytes
  // The offsets of the lines so far, each in place of one that would be too many.
  const begins = new Uint32Array(most.lines)
  let line = 0
  let begin = 0
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== NEWLINE && at - begin + 1 < LONGEST_LINE) continue
    begin = at + 1
    begins[++line % most.lines] = begin
  }
  let first = Math.max(0, line - most.lines + 1)
  while (first < line && (begins[first % most.lines] ?? 0) < least) first++
  return { start: begins[first % most.lines] ?? 0, line: first + 1 }
}

const textOf = (bytes: Buffer) => bytes.toString('utf8').replace(/\r?\n$/, '')

const MARKER = /^(?:\x1b\[0?K)*section_(start|end):(\d{1,12}):([\w.-]{1,100})(?:\[([^\]\r\n]{0,200})\])?$/

class Writer {
  readonly #pieces: string[][] = [[]]
  /** Sections that begin in this part know where their tags are. */
  readonly #open: (OpenSection & {
    readonly tag?: { readonly piece: string[]; readonly at: number; readonly head: string }
  })[]
  #line: number
  #look: Look

  constructor({ line, look, sections }: TracePlace) {
    this.#line = line
    this.#look = look
    this.#open = [...sections]
  }

  add(line: string): void {
    const number = this.#line++
    const [begun, last] = this.#read(line)
    // Only markers stood in the line.
    if (last === null && begun === null && isMarked(line)) return
    const shown = this.#runs(last ?? '')
    if (begun) this.#begin(begun, number, shown)
    else this.#write(`<div id="L${number}"><a href="#L${number}" tabindex="-1">${number}</a>${shown}</div>`)
  }

  /** The HTML of a line that may still change; its markers have no effect yet. */
  unfinished(line: string): string {
    const kept = this.#look
    const segments = line.split('\r').filter(segment => !MARKER.test(segment))
    const html = this.#runs(segments.findLast(isVisible) ?? '')
    this.#look = kept
    return html === '' ? '' : `<a>${this.#line}</a>${html}`
  }

  pieces(): string[] {
    const inThisPart = this.#open.filter(({ tag }) => tag).length
    return this.#pieces.map((piece, index) =>
      [...piece, ...(index === this.#pieces.length - 1 ? Array<string>(inThisPart).fill('</details>') : [])].join('')
    )
  }

  place(): TracePlace {
    return { line: this.#line, look: this.#look, sections: this.#open.map(({ name, start }) => ({ name, start })) }
  }

  /** Obeys the markers of a line. Returns the section that begins last, and the text that a terminal would show at the end. */
  #read(line: string): [begun: Begun | null, shown: string | null] {
    let begun: Begun | null = null
    let shown: string | null = null
    for (const segment of line.split('\r')) {
      const [, kind, time, name = '', options = ''] = MARKER.exec(segment) ?? []
      if (kind === undefined) {
        if (!isVisible(segment)) continue
        // What a later text overwrites may still have changed the colour.
        if (shown !== null) this.#runs(shown)
        shown = segment
        continue
      }
      if (begun) this.#begin(begun, this.#line - 1, '')
      begun = null
      if (kind === 'start') begun = { name, start: Number(time), collapsed: /\bcollapsed=true\b/.test(options) }
      else this.#end(name, Number(time))
    }
    return [begun, shown]
  }

  #begin({ name, start, collapsed }: Begun, line: number, header: string): void {
    const summary = `<summary id="L${line}"><b>${line}</b>${header === '' ? escapeText(name) : header}`
    if (this.#open.length >= MOST_SECTIONS) {
      this.#write(`<div>${summary.replace(/^<summary/, '<span')}</span></div>`)
      return
    }
    const piece = this.#last()
    const head = collapsed ? '' : ' open'
    this.#open.push({ name, start, tag: { piece, at: piece.length, head } })
    piece.push(`<details data-open${head}>`, summary, '</summary>')
  }

  /** Ends a section with all sections in it. */
  #end(name: string, time: number): void {
    const index = this.#open.findLastIndex(section => section.name === name)
    if (index < 0) return
    for (const { start, tag } of this.#open.splice(index).reverse()) {
      if (tag) {
        tag.piece[tag.at] = `<details${tag.head}>`
        const seconds = time - start
        if (seconds >= 0 && seconds < 1e7) tag.piece[tag.at + 2] = ` <i>${seconds} s</i></summary>`
        this.#write('</details>')
      } else this.#pieces.push([])
    }
  }

  #last(): string[] {
    return this.#pieces.at(-1) ?? []
  }

  #write(html: string): void {
    this.#last().push(html)
  }

  /** Returns the text of a line with its colours, and moves on to the look at its end. */
  #runs(text: string): string {
    let html = ''
    let at = 0
    const add = (part: string) => {
      const shown = part.replace(CONTROLS, '')
      if (shown === '') return
      const classes = classesOf(this.#look)
      html += classes === '' ? linked(shown) : `<span class="${classes}">${linked(shown)}</span>`
    }
    for (const found of text.matchAll(ESCAPE)) {
      add(text.slice(at, found.index))
      at = found.index + found[0].length
      if (found[1] !== undefined) this.#look = changed(this.#look, found[1])
    }
    add(text.slice(at))
    return html
  }
}

interface Begun {
  readonly name: string
  readonly start: number
  readonly collapsed: boolean
}

/** Sequences of terminals; the parameters of those that change the look are captured. */
const ESCAPE = /\x1b\[([\d;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?/g
// Characters that change the direction of the text around them could show another text than the one that stands there.
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g

const isVisible = (segment: string) => segment.replace(ESCAPE, '').replace(CONTROLS, '') !== ''
const isMarked = (line: string) => line.split('\r').some(segment => MARKER.test(segment))

/** Escapes a text, and makes links of the URLs in it. */
const linked = (text: string) =>
  text
    .split(/(https?:\/\/[\x21-\x7e]{1,2000}[^\s.,;:!?)'"\]}>])/)
    .map((part, at) =>
      at % 2 === 1 && URL.canParse(part)
        ? `<a href="${escapeText(part).replaceAll('"', '&quot;')}" rel="nofollow noopener">${escapeText(part)}</a>`
        : escapeText(part)
    )
    .join('')

function classesOf({ color, back, bold, italic, underline, reverse }: Look): string {
  const names = [
    ...(color === null ? [] : [`c${color}`]),
    ...(back === null ? [] : [`g${back % 8}`]),
    ...(bold ? ['tb'] : []),
    ...(italic ? ['ti'] : []),
    ...(underline ? ['tu'] : []),
    ...(reverse ? ['tr'] : [])
  ]
  return names.join(' ')
}

/** Applies the parameters of a sequence such as `1;31` or `38;5;208`. */
function changed(look: Look, parameters: string): Look {
  const codes = parameters.split(/[;:]/).map(Number)
  let now = look
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    if (code === 38 || code === 48) {
      const [color, used] = extended(codes.slice(at + 1, at + 5))
      at += used
      if (color !== null) now = { ...now, [code === 38 ? 'color' : 'back']: color }
    } else now = { ...now, ...simple(code) }
  }
  return now
}

function simple(code: number): Partial<Look> {
  if (code === 0) return PLAIN
  if (code === 1) return { bold: true }
  if (code === 3) return { italic: true }
  if (code === 4) return { underline: true }
  if (code === 7) return { reverse: true }
  if (code === 22) return { bold: false }
  if (code === 23) return { italic: false }
  if (code === 24) return { underline: false }
  if (code === 27) return { reverse: false }
  if (code === 39) return { color: null }
  if (code === 49) return { back: null }
  if (code >= 30 && code <= 37) return { color: code - 30 }
  if (code >= 40 && code <= 47) return { back: code - 40 }
  if (code >= 90 && code <= 97) return { color: code - 82 }
  return code >= 100 && code <= 107 ? { back: code - 92 } : {}
}

/** Reads `5;N` or `2;R;G;B`. Returns the nearest colour of the palette, and how many codes it used. */
function extended([kind, one = 0, two = 0, three = 0]: readonly number[]): [color: number | null, used: number] {
  if (kind === 2) return [nearest([one, two, three]), 4]
  if (kind !== 5) return [null, 1]
  if (one < 16) return [one, 2]
  if (one > 255) return [null, 2]
  if (one >= 232) return [nearest(Array<number>(3).fill(8 + (one - 232) * 10)), 2]
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40)
  const cube = one - 16
  return [nearest([level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)]), 2]
}

/** The 16 colours of terminals. The stylesheet has shades of them that can be read on its background. */
const PALETTE: readonly (readonly number[])[] = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 205, 0],
  [205, 205, 0],
  [0, 0, 238],
  [205, 0, 205],
  [0, 205, 205],
  [229, 229, 229],
  [127, 127, 127],
  [255, 0, 0],
  [0, 255, 0],
  [255, 255, 0],
  [92, 92, 255],
  [255, 0, 255],
  [0, 255, 255],
  [255, 255, 255]
]

function nearest(color: readonly number[]): number {
  const distances = PALETTE.map(other => other.reduce((sum, value, at) => sum + (value - (color[at] ?? 0)) ** 2, 0))
  return distances.indexOf(Math.min(...distances))
}

/** Returns a place as a text for a URL. */
export function placeText({ line, look, sections }: TracePlace): string {
  const { color, back, bold, italic, underline, reverse } = look
  const flags = [bold, italic, underline, reverse].map(Number).join('')
  const open = sections.map(({ name, start }) => `~${start}:${name}`).join('')
  return `${line}_${color ?? ''}_${back ?? ''}_${flags}${open}`
}

const PLACE = /^(\d{1,8})_(\d{0,2})_(\d{0,2})_([01])([01])([01])([01])((?:~\d{1,12}:[\w.-]{1,100}){0,10})$/

/** Reads such a text. A place that no part returned is the start. */
export function placeOf(text: string): TracePlace {
  const found = PLACE.exec(text)
  if (!found) return START
  const [, line, color, back, bold, italic, underline, reverse, sections = ''] = found
  const indexOf = (digits = '') => (digits === '' || Number(digits) > 15 ? null : Number(digits))
  const isSet = (digit?: string) => digit === '1'
  return {
    line: Number(line),
    look: {
      color: indexOf(color),
      back: indexOf(back),
      bold: isSet(bold),
      italic: isSet(italic),
      underline: isSet(underline),
      reverse: isSet(reverse)
    },
    sections: sections
      .split('~')
      .slice(1)
      .map(section => ({ start: Number(section.split(':', 1)[0]), name: section.slice(section.indexOf(':') + 1) }))
  }
}

// Finds the parts of a Markdown text that are not code, without parsing what is inside a paragraph: time grows only with the length.
import MarkdownIt from 'markdown-it'

const markdown = new MarkdownIt({ html: true, maxNesting: 20 })
markdown.core.ruler.enableOnly(['normalize', 'block'])

/** The first character of a part, and the character after its last one. */
export type Range = readonly [from: number, to: number]

/** Returns the parts of a text outside of code blocks and code spans, in their order. */
export function proseOf(text: string): Range[] {
  if (!/[`~\t]| {4}/.test(text)) return [[0, text.length]]
  const lines = [0, ...[...text.matchAll(/\r\n?|\n/g)].map(({ index, 0: end }) => index + end.length)]
  const startOf = (line: number) => lines[line] ?? text.length
  const code: Range[] = []
  for (const { type, map } of markdown.parse(text, {})) {
    if (!map) continue
    const [from, to] = [startOf(map[0]), startOf(map[1])]
    if (type === 'fence' || type === 'code_block') code.push([from, to])
    else if (type === 'inline') for (const span of spansOf(text, from, to)) code.push(span)
  }
  return between(code, text.length)
}

/** The code spans of a paragraph: from some backticks to the next ones of the same number. */
function* spansOf(text: string, from: number, to: number): Generator<Range> {
  const marks = [...text.slice(from, to).matchAll(/(\\?)(`{1,1000})/g)].map(
    ({ index, 1: slash = '', 2: mark = '' }) => ({
      at: from + index + slash.length,
      length: mark.length,
      isEscaped: slash !== ''
    })
  )
  // The places of each number of backticks, from the last, so that none is visited twice.
  const places = new Map<number, number[]>()
  for (let place = marks.length - 1; place >= 0; place--) {
    const length = marks[place]?.length ?? 0
    const same = places.get(length)
    if (same) same.push(place)
    else places.set(length, [place])
  }
  for (let place = 0; place < marks.length; place++) {
    const mark = marks[place]
    if (!mark || mark.isEscaped) continue
    const later = places.get(mark.length) ?? []
    while ((later.at(-1) ?? marks.length) <= place) later.pop()
    const end = marks[later.at(-1) ?? marks.length]
    if (!end) continue
    yield [mark.at, end.at + end.length]
    place = later.at(-1) ?? place
  }
}

function between(code: readonly Range[], length: number): Range[] {
  const prose: Range[] = []
  let from = 0
  for (const [start, end] of [...code].sort(([one], [other]) => one - other)) {
    if (start > from) prose.push([from, start])
    from = Math.max(from, end)
  }
  if (from < length) prose.push([from, length])
  return prose
}

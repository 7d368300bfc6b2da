// Searches the files of a commit for a text.
import { LRUCache } from 'lru-cache'
import { failure, GitLimit, startGit } from '../process/run.js'
import { isObjectId } from './reader.js'

interface GrepQuestion {
  readonly commitId: string
  /** The text to find. It is not a pattern, and upper and lower case do not matter. */
  readonly text: string
  /** Whose search this is: the searches of one client wait for each other. */
  readonly client?: string
}

interface GrepLine {
  readonly path: string
  readonly line: number
  /** The line from about the place of the text, in at most LONGEST characters. */
  readonly text: string
  /** True when the beginning of the line is left out. */
  readonly isCutBefore: boolean
  readonly isCutAfter: boolean
}

export interface GrepResult {
  /** In the order of the files. */
  readonly lines: readonly GrepLine[]
  /** Why there may be more results: too many of them, or too much time. */
  readonly cut: 'results' | 'time' | null
}

/** The maximum number of lines of one search, and of one file. */
const MOST_LINES = 500
const MOST_OF_FILE = 20
/** The maximum number of characters of a line, and those before the text. */
const LONGEST = 240
const BEFORE = 60
/** Seconds. Searching 80,000 files takes about two. */
const TIME = 15
const PROCESSOR = 8
/** Bytes of output that are read. One line may have megabytes. */
const MOST_BYTES = 8 * 1024 * 1024

const answers = new LRUCache<string, GrepResult>({
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: ({ lines }) => 500 + lines.reduce((sum, { path, text }) => sum + (path.length + text.length) * 2, 0)
})

/** Returns the lines of a commit that contain a text, within limits of number and time. The commit must exist. */
export async function grep(repository: string, { commitId, text, client }: GrepQuestion): Promise<GrepResult> {
  if (!isObjectId(commitId)) throw new TypeError('not a commit')
  // A line end would make it several texts, and a NUL would end the argument.
  if (/[\n\r\0]/.test(text) || text === '') return { lines: [], cut: null }
  const key = `${repository}\0${commitId}\0${text}`
  const known = answers.get(key)
  if (known) return known
  const result = await search(repository, { commitId, text, ...(client !== undefined && { client }) })
  answers.set(key, result)
  return result
}

async function search(repository: string, { commitId, text, client }: GrepQuestion): Promise<GrepResult> {
  const args = [
    ...['grep', '-n', '-I', '-z', '-i', '--fixed-strings', '--column', '--full-name', '--no-color', '--no-textconv'],
    ...['--threads=1', `--max-count=${MOST_OF_FILE}`, '-e', text, commitId, '--']
  ]
  // It may take seconds, so it uses a slot of long processes, like a clone.
  const git = await startGit(args, {
    ...{ repository, timeout: TIME, processor: PROCESSOR, long: true },
    ...(client !== undefined && { client })
  })
  git.stdin.end()
  const reader = new LineReader(commitId.length + 1)
  let wants = true
  for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
    wants = reader.take(chunk)
    if (!wants) break
  }
  const { lines } = reader
  if (!wants) {
    git.kill()
    await git.done
    return { lines, cut: 'results' }
  }
  const exit = await git.done
  if (exit.ended === 'timeout') return { lines, cut: 'time' }
  // 1 means that nothing was found.
  if (exit.code === 0 || exit.code === 1) return { lines, cut: null }
  const error = failure(args, exit, git.stderr(), { processor: PROCESSOR })
  if (error instanceof GitLimit && error.isOfTime) return { lines, cut: 'time' }
  throw error
}

/** Reads `COMMIT:PATH NUL LINE NUL COLUMN NUL TEXT LF`. It keeps only the part of a line that is shown. */
class LineReader {
  readonly lines: GrepLine[] = []
  #rest: Buffer = Buffer.alloc(0)
  #read = 0

  /** `skipped` is the length of the prefix of each path. */
  constructor(private readonly skipped: number) {}

  /** Returns false when the reader needs no more. */
  take(chunk: Buffer): boolean {
    this.#read += chunk.length
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let from = 0
    for (;;) {
      const next = this.#readLine(from)
      if (next === undefined) break
      from = next
      if (this.lines.length >= MOST_LINES) return false
    }
    this.#rest = this.#rest.subarray(from)
    return this.#read < MOST_BYTES
  }

  #readLine(from: number): number | undefined {
    const marks = [from - 1]
    for (let field = 0; field < 3; field++) {
      const mark = this.#rest.indexOf(0, (marks.at(-1) ?? 0) + 1)
      if (mark === -1) return undefined
      marks.push(mark)
    }
    const [, path = 0, line = 0, column = 0] = marks
    const end = this.#rest.indexOf(10, column + 1)
    if (end === -1) return undefined
    const text = this.#rest.subarray(column + 1, end)
    const place = Number(this.#rest.toString('latin1', line + 1, column)) - 1
    this.lines.push({
      path: this.#rest.toString('utf8', from + this.skipped, path),
      line: Number(this.#rest.toString('latin1', path + 1, line)),
      ...windowOf(text, place)
    })
    return end + 1
  }
}

/** Returns the part of a line around a place in bytes. */
function windowOf(line: Buffer, place: number): Pick<GrepLine, 'text' | 'isCutBefore' | 'isCutAfter'> {
  let start = place + BEFORE < LONGEST ? 0 : place - BEFORE
  // A character may have several bytes, of which all but the first begin with the bits 10.
  while (start > 0 && ((line[start] ?? 0) & 0xc0) === 0x80) start -= 1
  const text = line.toString('utf8', start, start + LONGEST * 4)
  return {
    text: text.slice(0, LONGEST),
    isCutBefore: start > 0,
    isCutAfter: start + LONGEST * 4 < line.length || text.length > LONGEST
  }
}

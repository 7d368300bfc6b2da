// Reads the CSV file of an import as a stream, so its size does not matter.
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { type CsvError, parse } from 'csv-parse'
import type { ImportLine } from '../../areas/people/users/import/user-import.js'
import { BadParameters } from '../../errors.js'

/** Maximum bytes of a line. Without this limit, an unclosed quote would read the whole file into memory. */
const LONGEST_LINE = 65_536

/** The columns that the header may have, and those that it must have. */
export interface CsvColumns {
  readonly known: readonly string[]
  readonly required: readonly string[]
}

export interface CsvFile {
  readonly lines: AsyncIterable<ImportLine>
  /** Returns the bytes read so far and the size of the file, which is null when unknown. */
  readonly progress: () => { readonly read: number; readonly size: number | null }
}

interface CsvRecord {
  readonly values: readonly string[]
  /** The line on which the record begins. */
  readonly line: number
}

/** The file cannot be understood from this line on. */
class Broken extends Error {
  constructor(
    readonly line: number,
    problem: string
  ) {
    super(problem)
  }
}

/**
 * Opens a file, or standard input for `-`, and reads its header. Throws BadParameters when the file cannot be read or
 * its header is wrong.
 */
export async function openCsvFile(file: string, columns: CsvColumns): Promise<CsvFile> {
  const { stream, size } = await openStream(file)
  let read = 0
  stream.on('data', chunk => (read += chunk.length)).pause()
  const records = readRecords(stream)
  const names = await readHeader(records, file, columns).catch(error => {
    stream.destroy()
    throw error
  })
  return { lines: readLines(records, names), progress: () => ({ read, size }) }
}

async function openStream(file: string): Promise<{ stream: Readable; size: number | null }> {
  if (file === '-') return { stream: process.stdin, size: null }
  try {
    const found = await stat(file)
    if (found.isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' })
    const stream = createReadStream(file)
    await once(stream, 'open')
    return { stream, size: found.isFile() ? found.size : null }
  } catch (error) {
    throw wrongFile(file, `cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** Yields every record before a syntax error and then throws Broken. The parser's own iterator would drop these records. */
async function* readRecords(stream: Readable): AsyncGenerator<CsvRecord> {
  const queue: CsvRecord[] = []
  let end = 0
  let fault: CsvError | undefined
  const parser = parse({
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_LINE,
    on_record: (values: string[], { lines }) => {
      // The parser reports the last line of a record, but people look for its first line.
      queue.push({ values, line: lines - values.reduce((sum, value) => sum + value.split('\n').length - 1, 0) })
      end = lines
      return null
    }
  })
  parser.on('error', error => (fault ??= error as CsvError)).resume()
  for await (const chunk of stream) {
    await new Promise(resolve => parser.write(chunk, resolve))
    yield* queue.splice(0)
    if (fault) throw new Broken(end + 1, problemOf(fault))
  }
  await new Promise<unknown>(resolve => parser.end(resolve))
  yield* queue.splice(0)
  if (fault) throw new Broken(end + 1, problemOf(fault))
}

function problemOf({ code }: CsvError): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is not closed'
  if (code === 'CSV_MAX_RECORD_SIZE') return `a line is longer than ${LONGEST_LINE} bytes, or a quote is not closed`
  return 'this is not CSV'
}

async function readHeader(
  records: AsyncGenerator<CsvRecord>,
  file: string,
  { known, required }: CsvColumns
): Promise<string[]> {
  const first = await records.next().catch(error => {
    throw wrongFile(file, `cannot be read (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`)
  })
  if (first.done) throw wrongFile(file, 'has no header row')
  const columns = first.value.values.map(name => name.trim())
  const unknown = columns.find(name => !known.includes(name))
  if (unknown !== undefined) {
    const name = unknown.slice(0, 60).replace(/[\p{Cc}\p{Cf}]/gu, '?')
    throw wrongFile(file, `has an unknown column ${name}: the known columns are ${known.join(', ')}`)
  }
  const missing = required.find(name => !columns.includes(name))
  if (missing !== undefined) throw wrongFile(file, `has no column ${missing}`)
  const twice = columns.find((name, at) => columns.indexOf(name) !== at)
  if (twice !== undefined) throw wrongFile(file, `has the column ${twice} twice`)
  return columns
}

async function* readLines(records: AsyncGenerator<CsvRecord>, columns: readonly string[]): AsyncGenerator<ImportLine> {
  try {
    for await (const record of records) yield lineOf(record, columns)
  } catch (error) {
    if (!(error instanceof Broken)) throw error
    yield { line: error.line, error: `${error.message}: the rest of the file is skipped` }
  }
}

function lineOf({ values, line }: CsvRecord, columns: readonly string[]): ImportLine {
  if (values.length !== columns.length) {
    return { line, error: `the line has ${values.length} values instead of ${columns.length}` }
  }
  return { line, values: Object.fromEntries(columns.map((name, at) => [name, values[at] ?? ''])) }
}

function wrongFile(file: string, problem: string): BadParameters {
  const text = `${file === '-' ? 'standard input' : file} ${problem}`
  return new BadParameters(text, text)
}

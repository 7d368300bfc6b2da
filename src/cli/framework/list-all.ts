// Prints lists: the first records, or with `--all` every record, read and printed in parts, so that a list of a million
// records takes no more memory than a list of a thousand.
import { drained } from '../../lib/drained.js'
import { Flags } from '../oclif.js'
import { type Column, TableLines, table } from '../output/table.js'
import { INTERRUPTED } from './failures.js'

export const allFlag = (other: string[] = ['limit']) => ({
  all: Flags.boolean({ description: 'list everything, without a limit', exclusive: other })
})

export interface Listing<Row> {
  /** The name of the list in --json: {NAME: [...], total}. */
  readonly name: string
  readonly json: boolean
  readonly columns: readonly Column<Row>[]
  /** Returns the function that makes a record of --json. It is called only for --json. */
  readonly view: () => Promise<(row: Row) => unknown> | ((row: Row) => unknown)
  /** Returns the rows after the row with the id `last`, in the order of the list; the first rows when `last` is undefined. */
  readonly part: (last: number | undefined) => Promise<readonly Row[]>
  readonly idOf: (row: Row) => number
}

export interface LimitedListing<Row> extends Listing<Row> {
  readonly all: boolean
  /** Returns the rows up to the limit, and the total number. */
  readonly first: () => Promise<{ readonly items: readonly Row[]; readonly total: number }>
  /** How to see more. */
  readonly hint?: string
}

/** Prints a list up to its limit, or all of it. Returns the output of --json, unless it is already printed. */
export async function printList<Row>(listing: LimitedListing<Row>): Promise<object | undefined> {
  if (listing.all) return printAll(listing)
  const { name, hint = 'raise --limit, or use --all, to see more' } = listing
  const { items, total } = await listing.first()
  if (listing.json) return { [name]: items.map(await listing.view()), total }
  process.stdout.write(`${table(items, listing.columns)}\n`)
  if (total > items.length) process.stderr.write(`${items.length} of ${total} ${name.replace('_', ' ')}: ${hint}\n`)
  return undefined
}

/** Prints the whole list. With --json, each record is one line. Also returns when the reader closes the pipe. */
export async function printAll<Row>(listing: Listing<Row>): Promise<undefined> {
  const write = listing.json ? jsonWriter(listing.name, await listing.view()) : tableWriter(listing.columns)
  let begun = false
  try {
    let last: number | undefined
    let total = 0
    for (;;) {
      const rows = await listing.part(last)
      total += rows.length
      const end = rows.at(-1)
      begun = true
      if (!(await writeOut(write.part(rows)))) return
      if (end === undefined) break
      last = listing.idOf(end)
    }
    await writeOut(write.end(total))
  } catch (error) {
    if (begun && error instanceof Error) Object.assign(error, { [INTERRUPTED]: true })
    throw error
  }
}

interface Writer<Row> {
  part(rows: readonly Row[]): string
  end(total: number): string
}

function jsonWriter<Row>(name: string, view: (row: Row) => unknown): Writer<Row> {
  let before = `{"${name}":[\n`
  return {
    part: rows => {
      const text = rows.map(row => {
        const line = `${before}${JSON.stringify(view(row))}`
        before = ',\n'
        return line
      })
      return text.join('')
    },
    end: total => `${before === ',\n' ? '\n' : before}],"total":${total}}\n`
  }
}

function tableWriter<Row>(columns: readonly Column<Row>[]): Writer<Row> {
  const lines = new TableLines(columns)
  return {
    part: rows => (rows.length === 0 ? '' : `${lines.of(rows)}\n`),
    end: total => (total === 0 ? 'none\n' : '')
  }
}

/** Writes to standard output and waits until the reader accepts more. Returns false when the reader has closed the pipe. */
export async function writeOut(text: string | Uint8Array): Promise<boolean> {
  const { stdout } = process
  if (stdout.destroyed || stdout.writableEnded) return false
  if (text.length === 0 || stdout.write(text)) return true
  try {
    await drained(stdout)
    return !stdout.destroyed
  } catch {
    // An error of the pipe ends the list; main.ts reports those that matter.
    return false
  }
}

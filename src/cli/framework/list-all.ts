// Prints lists: the first records, or with `--all` everything, read and printed in parts, so that a list of a million
// records takes no more memory than one of a thousand.
import { once } from 'node:events'
import { Flags } from '../oclif.js'
import { type Column, TableLines, table } from '../output/table.js'
import { INTERRUPTED } from './failures.js'

export const allFlag = (other: string[] = ['limit']) => ({
  all: Flags.boolean({ description: 'list everything, in parts, without a limit', exclusive: other })
})

export interface Listing<Row> {
  /** The name of the list in --json: {NAME: [...], total}. */
  readonly name: string
  readonly json: boolean
  readonly columns: readonly Column<Row>[]
  /** Gives the record of --json; called only for that. */
  readonly view: () => Promise<(row: Row) => unknown> | ((row: Row) => unknown)
  /** The next rows, in the order of the list, after the row with the id `last`; at the beginning without it. */
  readonly part: (last: number | undefined) => Promise<readonly Row[]>
  readonly idOf: (row: Row) => number
}

export interface LimitedListing<Row> extends Listing<Row> {
  readonly all: boolean
  /** The rows up to the limit, and how many there are. */
  readonly first: () => Promise<{ readonly items: readonly Row[]; readonly total: number }>
  /** How to see more. */
  readonly hint?: string
}

/** Prints a list up to its limit, or all of it. Returns what --json shows, unless that is printed already. */
export async function printList<Row>(listing: LimitedListing<Row>): Promise<object | undefined> {
  if (listing.all) return printAll(listing)
  const { name, hint = 'raise --limit, or use --all, to see more' } = listing
  const { items, total } = await listing.first()
  if (listing.json) return { [name]: items.map(await listing.view()), total }
  process.stdout.write(`${table(items, listing.columns)}\n`)
  if (total > items.length) process.stderr.write(`${items.length} of ${total} ${name.replace('_', ' ')}: ${hint}\n`)
  return undefined
}

/** Prints the whole list. In --json, each record is a line of its own. Returns when the reader has gone. */
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

/** Writes to standard output and waits until the reader takes more. Returns false when it has gone. */
export async function writeOut(text: string | Uint8Array): Promise<boolean> {
  const { stdout } = process
  if (stdout.destroyed || stdout.writableEnded) return false
  if (text.length === 0 || stdout.write(text)) return true
  const left = new AbortController()
  try {
    const { signal } = left
    await Promise.race([once(stdout, 'drain', { signal }), once(stdout, 'close', { signal })])
    return !stdout.destroyed
  } catch {
    // An error of the pipe ends the list; main.ts tells of those that somebody must know.
    return false
  } finally {
    left.abort()
  }
}

// Prints records as aligned columns for people. Scripts read --json.

export type Cell = string | number | boolean | Date | null
export type Column<Row> = readonly [heading: string, cell: (row: Row) => Cell]

/** The lines of a table with its headings; the word `none` when there are no rows. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  if (rows.length === 0) return 'none'
  const lines = [columns.map(([heading]) => heading), ...rows.map(row => columns.map(([, cell]) => textOf(cell(row))))]
  const widths = columns.map((_column, at) => Math.max(...lines.map(line => line[at]?.length ?? 0)))
  return lines
    .map(line =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}

function textOf(value: Cell): string {
  if (value === null) return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (value instanceof Date) return value.toISOString().replace(/\.\d+Z$/, 'Z')
  return printable(String(value))
}

/** Replaces control characters: a text of a user must not move the cursor of a sysadmin's terminal. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')

/** A record as `name: value` lines. */
export function fields(record: { readonly [name: string]: Cell }): string {
  return Object.entries(record)
    .map(([name, value]) => `${name}: ${textOf(value)}`)
    .join('\n')
}

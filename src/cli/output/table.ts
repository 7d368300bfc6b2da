// Prints records as aligned columns for people. Scripts read --json.

export type Cell = string | number | boolean | Date | null
export type Column<Row> = readonly [heading: string, cell: (row: Row) => Cell]

/** Returns the lines of a table with its headings; `none` when there are no rows. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  return rows.length === 0 ? 'none' : new TableLines(columns).of(rows)
}

/** The lines of a table that is printed in parts, headings first. Columns become wider when a later part needs it. */
export class TableLines<Row> {
  private widths: number[] = []

  constructor(private readonly columns: readonly Column<Row>[]) {}

  of(rows: readonly Row[]): string {
    const cells = rows.map(row => this.columns.map(([, cell]) => textOf(cell(row))))
    const lines = this.widths.length === 0 ? [this.columns.map(([heading]) => heading), ...cells] : cells
    this.widths = this.columns.map((_column, at) =>
      lines.reduce((widest, line) => Math.max(widest, line[at]?.length ?? 0), this.widths[at] ?? 0)
    )
    return lines.map(line => this.aligned(line)).join('\n')
  }

  private aligned(line: readonly string[]): string {
    return line
      .map((cell, at) => cell.padEnd(this.widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  }
}

function textOf(value: Cell): string {
  if (value === null) return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (value instanceof Date) return value.toISOString().replace(/\.\d+Z$/, 'Z')
  return printable(String(value))
}

/** Replaces control characters: text from a user must not move the cursor of a sysadmin's terminal. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')

/** Returns a record as `name: value` lines. */
export function fields(record: { readonly [name: string]: Cell }): string {
  return Object.entries(record)
    .map(([name, value]) => `${name}: ${textOf(value)}`)
    .join('\n')
}

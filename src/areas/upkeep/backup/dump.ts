// Writes the rows of the snapshot as text: a file for each table and a line for each row, gzipped and hashed at the same time.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { leftOutOfBackups } from '../../../db/ownership/owned-tables.js'
import type { Snapshot, TableRow, TableShape } from '../../../db/snapshot/snapshot.js'
import type { DumpedTable, Manifest } from './manifest.js'
import type { UnitWriter } from './unit.js'

export const DATABASE_UNIT = 'database'
export const dumpFile = (table: string) => `${table}.jsonl.gz`

/** Writes all tables. Returns the database record for the manifest. */
export async function dumpDatabase(
  snapshot: Snapshot,
  unit: UnitWriter,
  signal?: AbortSignal
): Promise<Manifest['database']> {
  const leftOut: readonly string[] = leftOutOfBackups()
  const tables: DumpedTable[] = []
  for (const table of await snapshot.tables()) {
    const { name, next, columns } = table
    // An omitted table keeps its next id too: a new process must not get the id of an old one.
    const rows = leftOut.includes(name) ? 0 : await dumpTable(table, snapshot.stream(table), unit, signal)
    tables.push({ name, rows, next: next === null ? null : Number(next), columns })
  }
  const applied = await snapshot.rows<{ name: string }>('select name from schema_migrations order by name')
  return { migrations: applied.map(({ name }) => name), tables, left_out: leftOut }
}

async function dumpTable(
  table: TableShape,
  stream: AsyncIterable<TableRow>,
  unit: UnitWriter,
  signal?: AbortSignal
): Promise<number> {
  const path = dumpFile(table.name)
  let rows = 0
  async function* lines(): AsyncGenerator<string> {
    let text = ''
    for await (const row of stream) {
      signal?.throwIfAborted()
      rows += 1
      text += `${JSON.stringify(row)}\n`
      if (text.length < 65_536) continue
      yield text
      text = ''
    }
    yield text
  }
  const hash = createHash('sha256')
  let size = 0
  const count = new Transform({
    transform: (chunk: Buffer, _, done) => {
      hash.update(chunk)
      size += chunk.length
      done(null, chunk)
    }
  })
  // Level 1 is three times as fast as the default, and the output is a tenth larger.
  const gzip = createGzip({ level: 1 })
  await pipeline(lines, gzip, count, createWriteStream(unit.place(path), { flags: 'wx', mode: 0o600 }))
  unit.adopt({ path, size, sha256: hash.digest('hex'), modified: Date.now() })
  return rows
}

/** Reads the rows of a dumped table. It cannot use node's readline, which also ends lines at U+2028, because text may contain that. */
export async function* readDump(path: string): AsyncGenerator<TableRow> {
  const source = createReadStream(path)
  const text = source.pipe(createGunzip()).setEncoding('utf8')
  source.once('error', error => text.destroy(error))
  let rest = ''
  for await (const chunk of text as AsyncIterable<string>) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as TableRow
  }
}

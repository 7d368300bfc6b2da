// Compares tables, columns and indexes with what the migrations make: a missing index makes lists slow, and a wrong collation treats
// different names as equal.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { config } from '../../config.js'
import { databaseVersion } from '../../db/connect/server.js'
import { newerMigrations } from '../../db/schema/migrate.js'
import {
  compareShapes,
  currentShape,
  expectedShape,
  NoScratchDatabase,
  type SchemaShape
} from '../../db/schema/shape.js'
import { counted } from '../../lib/counted.js'
import { Ailment, type Check, NotExamined } from './check.js'

const SHOWN = 20

export const tablesCheck: Check = {
  name: 'tables',
  about: 'tables, columns, indexes and collations are those that the migrations make',
  needs: 'rows',
  examine: async ({ all }) => {
    if ((await newerMigrations()).length > 0) throw new NotExamined('a newer version has expanded the schema')
    const expected = await expectation(all)
    const differences = compareShapes(await currentShape(), expected)
    if (differences.length === 0) return `all ${expected.size} definitions are as the migrations make them`
    throw new Ailment(
      `${counted(differences.length, 'definition')} of the schema ${differences.length === 1 ? 'differs' : 'differ'}`,
      'undo the changes that were made by hand; a restore leaves out extra tables and columns',
      differences.slice(0, SHOWN)
    )
  }
}

/**
 * Making the schema in a scratch database takes seconds on a slow disk. So the result is kept until the program or the database
 * has another version; --all makes it again.
 */
async function expectation(fresh: boolean): Promise<SchemaShape> {
  const { migrations } = await import('../../db/migrations/list.js')
  const key = createHash('sha256')
    .update(JSON.stringify([await databaseVersion(), migrations]))
    .digest('hex')
  const file = join(config().home, 'cache', 'schema.json')
  const kept = fresh ? null : read(file)
  if (kept?.key === key) return new Map(kept.shape)
  const shape = await expectedShape().catch(error => {
    throw error instanceof NoScratchDatabase ? new NotExamined(error.message) : error
  })
  keep(file, { key, shape: [...shape] })
  return shape
}

interface Kept {
  readonly key: string
  readonly shape: [string, string][]
}

function read(file: string): Kept | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept
  } catch {
    return null
  }
}

function keep(file: string, kept: Kept): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(kept), { mode: 0o600 })
    renameSync(`${file}.${process.pid}`, file)
  } catch {
    // A full disk costs only time: the next run makes the schema again.
  }
}

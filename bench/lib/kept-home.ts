// Homes with much data are made once for each schema, stay in the cache, and are copied for each run.
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'
import { execute } from '../../src/db/connect/sql.js'
import { migrations } from '../../src/db/migrations/list.js'
import { type Prepared, withAppliance } from './appliance.js'
import { copyOf, keptFolder } from './cache.js'
import { temporaryFolder } from './clean-up.js'

/** Returns a copy of the home that `fill` makes, and what `fill` returned. Change `version` when the data change. */
export async function homeWith<T>(kind: string, version: number, fill: (appliance: Prepared) => Promise<T>) {
  const schema = createHash('sha256').update(`${version} ${migrations.map(({ name }) => name).join()}`)
  const kept = await keptFolder(kind, schema.digest('hex').slice(0, 12), async draft => {
    const { home, dataset } = await newHomeWith(fill)
    writeFileSync(join(draft, 'dataset.json'), JSON.stringify(dataset))
    renameSync(home, join(draft, 'home'))
  })
  const dataset = JSON.parse(readFileSync(join(kept, 'dataset.json'), 'utf8')) as T
  return { home: copyOf(join(kept, 'home')), dataset }
}

/** Makes a home for this run only, where a copy in the cache would take too much of the disk. */
export async function newHomeWith<T>(fill: (appliance: Prepared) => Promise<T>) {
  const home = temporaryFolder()
  let dataset: T | undefined
  await withAppliance({ home, keep: true }, async appliance => {
    // The database of an appliance keeps 64 MB of its tables in memory, writes all changed pages once per 32 MB of its log, and
    // each commit to the disk: for this many rows that would take hours. These settings last until it stops.
    await execute(`set global innodb_buffer_pool_size = ${Math.floor(freemem() / 4)}`)
    await execute('set global innodb_log_file_size = 4294967296')
    await execute('set global innodb_flush_log_at_trx_commit = 0')
    dataset = await fill(appliance)
  })
  return { home, dataset: dataset as T }
}

// A list that needs a temporary table can be read while the disk of the home is full.
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../../src/config.js'
import { closeDatabase } from '../../../src/db/connect/connection.js'
import { row } from '../../../src/db/connect/sql.js'
import { startEmbedded } from '../../../src/db/embedded/embedded.js'
import { outsideFolder } from '../../../src/home.js'

delete process.env.GITSTEAD_DATABASE_URL
process.env.GITSTEAD_LOG_LEVEL ??= 'silent'

/** MariaDB stores a table with long texts in files. */
const LIST =
  "select count(*) as count from (select distinct repeat('x', 100000) as text union select repeat('y', 100000)) some"

t.test('temporary tables are in memory while the disk of the home is full', async t => {
  const home = mkdtempSync(join(tmpdir(), 'gitstead-test-'))
  process.env.GITSTEAD_HOME = home
  loadConfig({})
  t.teardown(() => rmSync(home, { recursive: true, force: true }))
  const link = join(home, 'run/tables')
  const memory = outsideFolder('/dev/shm')

  const full = await startEmbedded({ fullBelow: Number.MAX_SAFE_INTEGER })
  t.equal(readlinkSync(link), memory)
  // From now on, tables can only be created in memory.
  rmSync(join(home, 'tmp'), { recursive: true })
  t.match(await row(LIST), { count: 2 })
  t.same(readdirSync(memory), [])
  await closeDatabase()
  await full.stop()
  t.notOk(existsSync(memory))

  const usual = await startEmbedded()
  t.equal(readlinkSync(link), '../tmp')
  t.match(await row(LIST), { count: 2 })
  await closeDatabase()
  await usual.stop()
})

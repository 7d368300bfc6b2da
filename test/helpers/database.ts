// One database for each test file, on the server of the test run. A test file that runs on its own starts its own server.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireKey } from '../../src/areas/ground/settings/encryption-key.js'
import { loadConfig } from '../../src/config.js'
import { closeDatabase } from '../../src/db/connect/connection.js'
import { migrateUp } from '../../src/db/schema/migrate.js'
import { closeGitProcesses } from '../../src/git/repository/processes.js'
import { compose } from '../../src/product.js'
import { closeWake } from '../../src/queue/wake.js'
import { dropDatabase, makeDatabase, startTestServer } from './database-server.js'
import t from './tap.js'

export interface TestHome {
  readonly home: string
  /** The `database.url` of this file's database. */
  readonly databaseUrl: string
}

let ready: Promise<TestHome> | undefined
let made = 0

/** Makes an empty database with the schema, and an empty home. Both are removed when the test file ends. */
export function testDatabase(): Promise<TestHome> {
  ready ??= prepare()
  return ready
}

async function prepare(): Promise<TestHome> {
  const home = mkdtempSync(join(tmpdir(), 'gitstead-test-home-'))
  const given = process.env.GITSTEAD_TEST_SERVER
  const schema = given ? process.env.GITSTEAD_TEST_SCHEMA : undefined
  const own = given ? undefined : await startTestServer()
  const url = new URL(given ?? own?.url ?? '')
  const name = `test_${process.env.TAP_JOB_ID ?? '0'}_${process.pid}_${++made}`
  const server = new URL(url)
  await makeDatabase(server, name, schema)
  url.pathname = `/${name}`
  process.env.GITSTEAD_HOME = home
  process.env.GITSTEAD_DATABASE_URL = url.href
  process.env.GITSTEAD_LOG_LEVEL ??= 'silent'
  loadConfig({ port: 0 })
  compose()
  // Work of an earlier file that is still running may have opened a pool since then, without a database.
  await closeDatabase()
  // The statements of the template have already made the schema.
  if (schema === undefined) await migrateUp()
  await requireKey({ makes: true })
  t.teardown(async () => {
    ready = undefined
    closeWake()
    await closeGitProcesses()
    await closeDatabase()
    await dropDatabase(server, name)
    await own?.stop()
    rmSync(home, { recursive: true, force: true })
  })
  return { home, databaseUrl: url.href }
}

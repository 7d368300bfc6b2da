// One database for each test file, on the server of the test run. A test file that runs alone starts its own server.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import t from 'tap'
import { loadConfig } from '../../src/config.js'
import { closeDatabase } from '../../src/db/connection.js'
import { migrateUp } from '../../src/db/migrate.js'
import { closeGitProcesses } from '../../src/git/processes.js'
import { closeWake } from '../../src/queue/wake.js'
import { startTestServer } from './database-server.js'

export interface TestHome {
  readonly home: string
  /** The `database.url` of this file's database. */
  readonly databaseUrl: string
}

let ready: Promise<TestHome> | undefined

/** Makes an empty database with the schema, and an empty home. Both are removed when the test file ends. */
export function testDatabase(): Promise<TestHome> {
  ready ??= prepare()
  return ready
}

async function prepare(): Promise<TestHome> {
  const home = mkdtempSync(join(tmpdir(), 'gitstead-test-home-'))
  const given = process.env.GITSTEAD_TEST_SERVER
  const ownHome = mkdtempSync(join(tmpdir(), 'gitstead-test-'))
  const own = given ? undefined : await startTestServer(ownHome)
  const url = new URL(given ?? own?.url ?? '')
  const name = `test_${process.env.TAP_JOB_ID ?? '0'}_${process.pid}`
  const server = {
    socketPath: url.searchParams.get('socket') ?? '',
    user: 'root',
    password: decodeURIComponent(url.password)
  }
  await onServer(server, `create database ${name} character set utf8mb4 collate utf8mb4_unicode_ci`)
  url.pathname = `/${name}`
  process.env.GITSTEAD_HOME = home
  process.env.GITSTEAD_DATABASE_URL = url.href
  process.env.GITSTEAD_LOG_LEVEL ??= 'silent'
  loadConfig({ port: 0 })
  await migrateUp()
  t.teardown(async () => {
    closeWake()
    await closeGitProcesses()
    await closeDatabase()
    await onServer(server, `drop database ${name}`)
    await own?.stop()
    for (const folder of [home, ownHome]) rmSync(folder, { recursive: true, force: true })
  })
  return { home, databaseUrl: url.href }
}

async function onServer(server: { socketPath: string; user: string; password: string }, sql: string): Promise<void> {
  const connection = await createConnection(server)
  await connection.query(sql)
  await connection.end()
}

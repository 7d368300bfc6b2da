// The data folder of the private MariaDB. MariaDB's own bootstrap creates it, because the package mariadb-server-core
// has no other way.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { config } from '../../config.js'
import { Misconfigured } from '../../errors.js'
import { ensureSecrets } from '../../secrets.js'
import { openLog } from './log.js'

/** The name of the database on the embedded server. */
export const EMBEDDED_NAME = 'gitstead'
const SHARE = '/usr/share/mysql'
const SYSTEM_TABLES = [
  'mysql_system_tables.sql',
  'mysql_performance_tables.sql',
  'mysql_system_tables_data.sql',
  'maria_add_gis_sp_bootstrap.sql'
]
const DRAFT = 'mysql.new-'
/** The advice in messages about a missing or broken MariaDB. */
export const REMEDY = 'install the Debian package mariadb-server-core, or set database.url'

/** Returns the path of the data folder. */
export const dataFolder = () => join(config().home, 'mysql')

/**
 * Creates the data folder. It builds the folder at a temporary path and renames it, so that nobody uses a half-finished folder as
 * a database. When two processes do this at the same time, the second one finds the folder of the first and uses it.
 */
export function makeDataFolder(): void {
  removeDrafts()
  const draft = `${join(config().home, DRAFT)}${process.pid}`
  rmSync(draft, { recursive: true, force: true })
  const folder = join(draft, 'data')
  mkdirSync(folder, { mode: 0o700, recursive: true })
  mkdirSync(join(draft, 'tmp'), { mode: 0o700 })
  try {
    fillDataFolder(folder, join(draft, 'tmp'))
    renameSync(folder, dataFolder())
  } catch (error) {
    if (!existsSync(dataFolder())) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Removes the drafts of processes that died while they built them. */
function removeDrafts(): void {
  for (const name of readdirSync(config().home)) {
    if (!name.startsWith(DRAFT)) continue
    const maker = name.slice(DRAFT.length)
    if (!existsSync(`/proc/${maker}`)) rmSync(join(config().home, name), { recursive: true, force: true })
  }
}

function fillDataFolder(folder: string, tmp: string): void {
  let tables: string
  try {
    tables = SYSTEM_TABLES.map(file => readFileSync(join(SHARE, file), 'utf8')).join('\n')
  } catch {
    throw new Misconfigured(`${SHARE} lacks the system tables of MariaDB: ${REMEDY}`)
  }
  const input = `create database mysql;\nuse mysql;\nset @auth_root_socket=null;\n${tables}\n${ownAccount()}`
  const log = openLog()
  try {
    execFileSync('mariadbd', [...commonOptions(folder, tmp), '--bootstrap'], { input, stdio: ['pipe', 'ignore', log] })
  } catch {
    throw new Misconfigured(`the database could not be created: see ${config().home}/run/mysql.log`)
  } finally {
    closeSync(log)
  }
}

/**
 * Returns SQL for the accounts. The bootstrap creates root without a password on several hosts; only one account, with
 * a password, remains.
 */
function ownAccount(): string {
  return [
    "delete from mysql.global_priv where not (User='root' and Host='localhost');",
    `update mysql.global_priv set Priv=json_set(Priv,'$.plugin','mysql_native_password','$.authentication_string','${passwordHash()}');`,
    `create database ${EMBEDDED_NAME} character set utf8mb4 collate utf8mb4_unicode_ci;`,
    ''
  ].join('\n')
}

function passwordHash(): string {
  const sha1 = (input: string | Buffer) => createHash('sha1').update(input).digest()
  return `*${sha1(sha1(ensureSecrets().database_password)).toString('hex').toUpperCase()}`
}

/**
 * Writes SQL that gives the only account the password of secrets.json, which it creates when it is missing. A server that starts
 * with this file runs the SQL before it accepts connections. Returns the path; the caller removes the file.
 */
export function writePasswordFile(): string {
  const path = join(config().home, 'run/password.sql')
  writeFileSync(path, `alter user root@localhost identified by password '${passwordHash()}';\n`, { mode: 0o600 })
  return path
}

/** Returns the options of every start, including the bootstrap. */
export const commonOptions = (folder: string, tmp: string) => [
  '--no-defaults',
  `--datadir=${folder}`,
  // Each server has its own folder: a server that starts deletes all temporary tables in it, including those of another server.
  `--tmpdir=${tmp}`,
  '--skip-networking',
  `--lc-messages-dir=${SHARE}/english`,
  ...(process.getuid?.() === 0 ? [`--user=${userInfo().username}`] : [])
]

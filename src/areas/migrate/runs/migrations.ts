// The migrations that a sysadmin has prepared: a row for each, with its settings, its token and what was done last. What was read of the
// source is in a folder of one machine (work-folder.ts).
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Origin } from '../../../access/actor.js'
import { joinMachines, machineUid } from '../../../cluster/machines.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { Conflict, Invalid, NoSuch, NotFound } from '../../../errors.js'
import { decryptNamed, encrypt } from '../../../secrets.js'
import { checkHookUrl } from '../../../webhooks/url.js'
import { audit } from '../../ground/audit/audit.js'
import { underLock } from '../../upkeep/maintenance/maintenance-lock.js'
import { READERS } from './readers.js'
import { folderOf, lockOf, MARKER, migrationsFolder, readJson, removeFolder, writeJson } from './work-folder.js'

const NAME = /^[a-z0-9][a-z0-9_-]{0,49}$/
const LONGEST_URL = 2000
/** Bytes of the settings as JSON, of which the people are most: one statement has no room for more. */
const LARGEST_SETTINGS = 8_000_000
/** Bytes of a result as JSON. */
const LARGEST_RESULT = 1_000_000
const MOST_LISTED = 10_000

export interface Settings {
  /** An entry of READERS. */
  readonly kind: string
  readonly url: string
  /** Namespaces of the source -> namespaces here. */
  readonly map: { readonly [namespace: string]: string }
  /** Usernames of the source -> usernames here. */
  readonly people: { readonly [username: string]: string }
  /** Requests in a second. */
  readonly rate: number
  /** Whether matched users get their SSH keys. */
  readonly keys: boolean
  /** Whether comments on commits are read, also where each commit needs a request. Default: false. */
  readonly comments?: boolean
  /** Whether addresses match people also where the source does not say who has proved them. Default: false. */
  readonly trust?: boolean
}

export const WORKS = ['plan', 'run', 'verify', 'assign'] as const
export type Work = (typeof WORKS)[number]

export const STATES = ['new', 'waiting', 'running', 'succeeded', 'partial', 'failed', 'canceled'] as const
export type State = (typeof STATES)[number]

export interface MigrationRow {
  readonly id: number
  readonly name: string
  readonly kind: string
  readonly url: string
  /** JSON: the other settings. */
  readonly settings: string
  readonly token_encrypted: Buffer
  /** The machine whose home has what was read; null before something was. */
  readonly machine: string | null
  readonly machine_name: string | null
  /** Of the last request to work on it. */
  readonly state: State
  readonly work: Work | null
  /** JSON: what to do. */
  readonly options: string | null
  readonly turn: number
  readonly progress: string | null
  readonly error: string | null
  readonly requested_at: Date | null
  readonly started_at: Date | null
  readonly ended_at: Date | null
  /** What a job or a command has finished last. */
  readonly result_of: Work | null
  readonly result_at: Date | null
  /** Whether a job or a command works on it. */
  readonly is_busy: number
  readonly created_at: Date
}

export interface Migration extends Settings {
  readonly id: number
  readonly name: string
  /** Where this machine keeps what it reads. */
  readonly folder: string
  readonly row: MigrationRow
  readonly created_at: string
}

const SELECT = `select m.id, m.name, m.kind, m.url, m.settings, m.token_encrypted, m.machine, a.name as machine_name, m.state, m.work,
  m.options, m.turn, m.progress, m.error, m.requested_at, m.started_at, m.ended_at, m.result_of, m.result_at, m.created_at,
  exists (select 1 from maintenance_locks l where l.task = concat('migrate:', m.name) and l.lease_until >= now(3)) as is_busy
  from migrations m left join machines a on a.uid = m.machine`

/** Adds a migration. Throws Invalid, and Conflict when there is one with this name. */
export async function addMigration(
  name: string,
  token: string,
  { kind, url, ...rest }: Settings,
  origin: Origin
): Promise<Migration> {
  if (!NAME.test(name)) throw new Invalid('name', 'has lowercase letters, digits, _ and -, and at most 50 of them')
  if (!Object.hasOwn(READERS, kind)) throw new Invalid('kind', `is one of ${Object.keys(READERS).join(', ')}`)
  const problem = checkHookUrl(url)
  if (problem) throw new Invalid('url', problem)
  const { username, password, search, hash } = new URL(url)
  if (username + password + search + hash !== '') throw new Invalid('url', 'has a user, a query or a fragment')
  if (url.length > LONGEST_URL) throw new Invalid('url', `has more than ${LONGEST_URL} characters`)
  if (!/^[\x21-\x7e]{1,1000}$/.test(token)) throw new Invalid('token', 'is not a token')
  const settings = JSON.stringify(rest)
  if (Buffer.byteLength(settings) > LARGEST_SETTINGS) throw new Invalid('people', 'are too many')
  await requireNamespaces(Object.values(rest.map))
  await adoptFolders()
  const id = await transact(async () => {
    const { insertId } = await execute(
      'insert into migrations (name, kind, url, settings, token_encrypted, created_at) values (?, ?, ?, ?, ?, ?)',
      [name, kind, url, settings, encrypt(token), new Date()]
    )
    const after = { url, kind, rate: rest.rate, keys: rest.keys, trust_addresses: rest.trust === true }
    const changes = Object.fromEntries(Object.entries(after).map(([attribute, value]) => [attribute, { after: value }]))
    await audit(origin, { action: 'migration.create', target: targetOf({ id: insertId, name }), changes })
    return insertId
  }).catch(error => {
    if (duplicateKey(error) === undefined) throw error
    throw new Conflict(`there is a migration ${name} already`)
  })
  return requireMigration(id)
}

async function requireNamespaces(paths: readonly string[]): Promise<void> {
  for (const path of new Set(paths))
    if (!(await row('select 1 from namespaces where path_key = lower(?)', [path])))
      throw new Invalid(
        'map',
        `names the namespace ${path}, which does not exist here: create the group first, or correct the path`
      )
}

export const targetOf = ({ id, name }: Pick<MigrationRow, 'id' | 'name'>) => ({ type: 'migration', id, name })

/** Finds a migration by its name. Throws NoSuch. */
export async function findMigration(name: string): Promise<Migration> {
  await adoptFolders()
  const found = NAME.test(name) ? await row<MigrationRow>(`${SELECT} where m.name = ?`, [name]) : undefined
  if (!found) throw new NoSuch('migration', name)
  return opened(found)
}

/** Finds a migration by its id. Throws NotFound. */
export async function requireMigration(id: number): Promise<Migration> {
  const found = await row<MigrationRow>(`${SELECT} where m.id = ?`, [id])
  if (!found) throw new NotFound('Migration')
  return opened(found)
}

export async function listMigrations(): Promise<readonly Migration[]> {
  await adoptFolders()
  return (await rows<MigrationRow>(`${SELECT} order by m.name limit ${MOST_LISTED}`)).map(opened)
}

/** Returns a page of the migrations, by name. */
export async function pageMigrations(query: PageRequest): Promise<Page<Migration>> {
  await adoptFolders()
  const { page, perPage, sql } = window(query)
  const [total, items] = await Promise.all([
    countTotal('select count(*) as total from migrations', []),
    rows<MigrationRow>(`${SELECT} order by m.name ${sql}`)
  ])
  return { items: items.map(opened), total, page, perPage }
}

function opened(found: MigrationRow): Migration {
  const { id, name, kind, url, settings, created_at } = found
  const rest = JSON.parse(settings) as Omit<Settings, 'kind' | 'url'>
  return { ...rest, id, name, kind, url, folder: folderOf(name), row: found, created_at: created_at.toISOString() }
}

/**
 * Removes a migration with what was read of the source; another machine removes its folder later. What came here stays. Throws
 * AlreadyRunning while somebody works on it.
 */
export function removeMigration(
  migration: Pick<Migration, 'id' | 'name' | 'created_at'>,
  origin: Origin
): Promise<void> {
  return underLock(lockOf(migration), new AbortController().signal, async () => {
    await transact(async () => {
      const { affectedRows } = await execute('delete from migrations where id = ?', [migration.id])
      if (affectedRows === 0) throw new NotFound('Migration')
      await audit(origin, { action: 'migration.delete', target: targetOf(migration) })
    })
    await removeFolder(migration)
  })
}

export const tokenOf = ({ name, row }: Migration): string =>
  decryptNamed(`the token of the migration ${name}`, row.token_encrypted)

/** Identifies the source in the database. */
export const placeOf = ({ url }: Pick<Settings, 'url'>): string => {
  const { host, pathname } = new URL(url)
  return `${host}${pathname.replace(/\/+$/, '')}`.slice(0, 255)
}

/** What a job or a command has finished last. A large result has only the first entries of its lists. */
export interface Result {
  readonly whole: boolean
  readonly report: unknown
}

/** Keeps the result of a plan, a run, a verification or an assignment, for everyone who asks. Returns it. */
export async function keepResult<T>({ id }: Migration, work: Work, result: T): Promise<T> {
  await execute('update migrations set result_of = ?, result_at = ?, result = ? where id = ?', [
    work,
    new Date(),
    fitting(result),
    id
  ])
  return result
}

function fitting(report: unknown): string {
  for (const most of [Number.POSITIVE_INFINITY, 1000, 100, 10]) {
    let whole = true
    const first = <T>(list: readonly T[]) => {
      whole &&= list.length <= most
      return list.slice(0, most)
    }
    const shortened = JSON.stringify(report, (_, value) => {
      if (Array.isArray(value)) return first(value)
      return value && typeof value === 'object' ? Object.fromEntries(first(Object.entries(value))) : value
    })
    if (Buffer.byteLength(shortened) <= LARGEST_RESULT) return `{"whole":${whole},"report":${shortened}}`
  }
  return '{"whole":false,"report":null}'
}

export async function findResult(id: number): Promise<Result | null> {
  const found = await row<{ result: string | null }>('select result from migrations where id = ?', [id])
  return found?.result ? (JSON.parse(found.result) as Result) : null
}

/** What earlier programs kept in the folder. */
interface OldSettings extends Settings {
  readonly token?: string
  readonly created_at: string
}

/** Makes rows of the migrations that an earlier program has prepared in this home. */
async function adoptFolders(): Promise<void> {
  for (const name of await readdir(migrationsFolder()).catch(() => [])) {
    const file = join(folderOf(name), MARKER)
    const old = NAME.test(name) ? await readJson<OldSettings>(file) : undefined
    if (old?.token === undefined) continue
    const { token, created_at, kind, url, ...rest } = old
    await joinMachines()
    await execute(
      `insert ignore into migrations (name, kind, url, settings, token_encrypted, machine, created_at) values (?, ?, ?, ?, ?, ?, ?)`,
      [name, kind, url, JSON.stringify(rest), Buffer.from(token, 'base64'), machineUid(), new Date(created_at)]
    )
    await writeJson(file, { created_at })
  }
}

// The folder of a migration, HOME/migrations/NAME, closed to other users: what the sysadmin has set, and what was read so far. The pages
// of a source are as confidential as its projects.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { config } from '../../../config.js'
import { Conflict, Invalid, NoSuch } from '../../../errors.js'
import { decryptNamed, encrypt } from '../../../secrets.js'
import { checkHookUrl } from '../../../webhooks/url.js'
import { READERS } from './readers.js'

const SETTINGS = 'migration.json'
const NAME = /^[a-z0-9][a-z0-9_-]{0,49}$/

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

interface StoredSettings extends Settings {
  /** Encrypted, in base64. */
  readonly token: string
  readonly created_at: string
}

export interface Migration extends StoredSettings {
  readonly name: string
  readonly folder: string
}

const root = () => join(config().home, 'migrations')

/** Adds a migration. Throws Invalid, and Conflict when there is one with this name. */
export async function addMigration(name: string, token: string, settings: Settings): Promise<Migration> {
  if (!NAME.test(name)) throw new Invalid('name', 'has lowercase letters, digits, _ and -, and at most 50 of them')
  if (!Object.hasOwn(READERS, settings.kind)) throw new Invalid('kind', `is one of ${Object.keys(READERS).join(', ')}`)
  const problem = checkHookUrl(settings.url)
  if (problem) throw new Invalid('url', problem)
  const { username, password, search, hash } = new URL(settings.url)
  if (username + password + search + hash !== '') throw new Invalid('url', 'has a user, a query or a fragment')
  if (!/^[\x21-\x7e]{1,1000}$/.test(token)) throw new Invalid('token', 'is not a token')
  const folder = join(root(), name)
  await mkdir(root(), { recursive: true, mode: 0o700 })
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Conflict(`there is a migration ${name} already`)
    throw error
  }
  const stored = { ...settings, token: encrypt(token).toString('base64'), created_at: new Date().toISOString() }
  await writeJson(join(folder, SETTINGS), stored)
  return { ...stored, name, folder }
}

/** Throws NoSuch. */
export async function findMigration(name: string): Promise<Migration> {
  const folder = join(root(), name)
  const stored = NAME.test(name) ? await readJson<StoredSettings>(join(folder, SETTINGS)) : undefined
  if (!stored) throw new NoSuch('migration', name)
  return { ...stored, name, folder }
}

export async function listMigrations(): Promise<readonly Migration[]> {
  const names = (await readdir(root()).catch(() => [])).filter(name => existsSync(join(root(), name, SETTINGS)))
  return Promise.all(names.sort().map(findMigration))
}

/** Removes what was read of the source. What came here stays. */
export const removeMigration = async ({ folder }: Migration): Promise<void> => {
  await rm(join(folder, SETTINGS))
  await rm(folder, { recursive: true, force: true })
}

export const tokenOf = ({ name, token }: Migration): string =>
  decryptNamed(`the token of the migration ${name}`, Buffer.from(token, 'base64'))

/** Identifies the source in the database. */
export const placeOf = ({ url }: Pick<Settings, 'url'>): string => {
  const { host, pathname } = new URL(url)
  return `${host}${pathname.replace(/\/+$/, '')}`.slice(0, 255)
}

/** The folder of what was read of one project of the source, or of the instance. */
export const partOf = ({ folder }: Migration, id: string): string =>
  join(folder, 'projects', createHash('sha256').update(id).digest('hex').slice(0, 32))

/** The number of the current run of a part of the source. */
export const runOf = async (part: string): Promise<number> =>
  (await readJson<{ readonly run: number }>(join(part, 'state.json')))?.run ?? 1

export const endRun = (part: string, run: number): Promise<void> =>
  writeJson(join(part, 'state.json'), { run: run + 1 })

/** Undefined for a file that is missing, or that a power failure has cut. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export async function writeJson(path: string, value: unknown): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, `${JSON.stringify(value, null, 1)}\n`, { mode: 0o600, flush: true })
  await rename(draft, path)
}

// The folder of a migration, HOME/migrations/NAME, closed to other users: what was read so far. The pages of a source are as confidential
// as its projects. It belongs to the machine that has read first, and others leave the work to that machine.
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { knownUids, machineUid } from '../../../cluster/machines.js'
import { config } from '../../../config.js'
import { execute, row, rows } from '../../../db/connect/sql.js'
import { Conflict, NotFound } from '../../../errors.js'
import { underLock } from '../../upkeep/maintenance/maintenance-lock.js'

/** Says of which migration a folder is: another one may have had the same name. */
export const MARKER = 'migration.json'

interface Marker {
  readonly created_at: string
  /** The number of the first run. Its pages are never taken for those of an earlier folder. */
  readonly first_run?: number
  /** Of an earlier program, which kept the settings here. */
  readonly token?: string
}

interface Folder {
  readonly id: number
  readonly name: string
  readonly created_at: string
}

export const migrationsFolder = (): string => join(config().home, 'migrations')

export const folderOf = (name: string): string => join(migrationsFolder(), name)

/** The lock that all work on a migration takes. */
export const lockOf = ({ name }: Pick<Folder, 'name'>): string => `migrate:${name}`

/** Another machine has what was read, and must do the work. */
export class ReadElsewhere extends Conflict {
  constructor(
    readonly machine: string,
    name: string
  ) {
    super(
      `the machine ${name} has what was read of the source: run it there. If that machine is gone, gitstead machines forget lets another begin again`
    )
  }
}

/**
 * Works on a migration on this machine, one process at a time. Throws AlreadyRunning, ReadElsewhere, and NotFound when the migration was
 * removed.
 */
export const workingOn = <T>(
  migration: Folder,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>
): Promise<T> =>
  underLock(lockOf(migration), signal, async signal => {
    await takeFolder(migration)
    await removeOldFolders()
    return work(signal)
  })

async function takeFolder(migration: Folder): Promise<void> {
  const found = await row<{ machine: string | null; name: string | null }>(
    'select m.machine, a.name from migrations m left join machines a on a.uid = m.machine where m.id = ?',
    [migration.id]
  )
  if (!found) throw new NotFound('Migration')
  const { machine, name } = found
  if (machine === null || !knownUids().includes(machine)) {
    // Nobody knows the machine any more: this one begins again.
    if (machine !== null && name !== null) throw new ReadElsewhere(machine, name)
    await execute('update migrations set machine = ? where id = ?', [machineUid(), migration.id])
  }
  if (await isFolderOf(migration)) return
  const folder = folderOf(migration.name)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const marker: Marker = { created_at: migration.created_at, first_run: Math.floor(Date.now() / 1000) }
  await writeJson(join(folder, MARKER), marker)
}

const markerOf = (folder: string) => readJson<Marker>(join(folder, MARKER))

const isFolderOf = async ({ name, created_at }: Folder): Promise<boolean> =>
  (await markerOf(folderOf(name)))?.created_at === created_at

/** Removes the folder of a migration, if this machine has it. */
export async function removeFolder(migration: Folder): Promise<void> {
  if (await isFolderOf(migration)) await rm(folderOf(migration.name), { recursive: true, force: true })
}

/** Removes the folders of migrations that other machines have removed. Those of an earlier program have no row yet. */
async function removeOldFolders(): Promise<void> {
  const found = await readdir(migrationsFolder())
  const known = new Set((await rows<{ name: string }>('select name from migrations')).map(({ name }) => name))
  for (const name of found.filter(each => !known.has(each)))
    if ((await markerOf(folderOf(name)))?.token === undefined)
      await rm(folderOf(name), { recursive: true, force: true })
}

/** The folder of what was read of one project of the source, or of the instance. */
export const partOf = ({ folder }: { readonly folder: string }, id: string): string =>
  join(folder, 'projects', createHash('sha256').update(id).digest('hex').slice(0, 32))

/** The number of the current run of a part of the source. */
export const runOf = async (part: string): Promise<number> =>
  (await readJson<{ readonly run: number }>(join(part, 'state.json')))?.run ??
  (await markerOf(dirname(dirname(part))))?.first_run ??
  1

export async function endRun(part: string, run: number): Promise<void> {
  // Nothing has been stored if the source has refused the first request.
  await mkdir(part, { recursive: true, mode: 0o700 })
  await writeJson(join(part, 'state.json'), { run: run + 1 })
}

/** Undefined for a file that is missing, or that a power failure has cut. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if (error instanceof SyntaxError || ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined
    throw error
  }
}

export async function writeJson(path: string, value: unknown): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, `${JSON.stringify(value, null, 1)}\n`, { mode: 0o600, flush: true })
  await rename(draft, path)
}

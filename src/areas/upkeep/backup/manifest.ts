// Describes the contents of a backup. manifest.json is written last and contains the hash of every list of files; each list
// contains the hashes of its files. So one hash, that of the manifest, covers all bytes.
import { createHash } from 'node:crypto'
import { accessSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure, Misconfigured, NotFound } from '../../../errors.js'

export const FORMAT = 1

/** A file of a unit. `modified` is the modification time of the original in milliseconds, which shows whether a file has changed. */
export interface FileEntry {
  readonly path: string
  readonly size: number
  readonly sha256: string
  readonly modified: number
}

/** A folder of the backup whose files are listed in `PATH.files`: a repository, the traces of a thousand builds, or the rows. */
export interface Unit {
  readonly path: string
  readonly files: number
  readonly bytes: number
  /** The hash of the list of files. */
  readonly sha256: string
  /** The project, if the unit is a repository. */
  readonly project?: { readonly id: number; readonly path: string }
}

export interface DumpedTable {
  readonly name: string
  readonly rows: number
  readonly next: number | null
  readonly columns: readonly { readonly name: string; readonly binary: boolean }[]
}

/** A file of objects that was damaged in the original as well. */
export interface DamagedFile {
  readonly unit: string
  readonly path: string
  /** One line, for a person. */
  readonly fault: string
}

export interface Manifest {
  readonly format: typeof FORMAT
  readonly id: string
  readonly gitstead: string
  /** The commit that the program was built from. Backups of earlier versions do not say it. */
  readonly revision?: string
  readonly home: string
  readonly host: string
  /** The time of the state that the backup shows. */
  readonly snapshot_at: string
  /** How long the snapshot of the database was open. Backups of earlier versions do not say it. */
  readonly snapshot_seconds?: number
  readonly finished_at: string
  /** The backup whose unchanged files this one shares. */
  readonly previous: string | null
  readonly database: {
    readonly migrations: readonly string[]
    readonly tables: readonly DumpedTable[]
    readonly left_out: readonly string[]
  }
  /** Projects that were removed, with their repositories, while the backup was written. */
  readonly removed_projects: readonly number[]
  readonly secrets: {
    readonly where: 'included' | 'apart' | 'left_out'
    /** Shows whether a secrets.json contains the key with which the rows were encrypted. */
    readonly fingerprint: string
  }
  readonly units: readonly Unit[]
  /** Backups of earlier versions do not have this list: nobody has compared their objects with their checksums. */
  readonly damaged?: readonly DamagedFile[]
  readonly totals: {
    readonly repositories: number
    readonly files: number
    readonly bytes: number
    /** Files that this backup wrote itself. It shares the others with the previous backup. */
    readonly new_files: number
    readonly new_bytes: number
  }
}

/** The files of a backup differ from its manifest. */
export class Damaged extends Failure {}

export const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')

/** Writes the manifest, and its checksum in the format of `sha256sum -c`. */
export function writeManifest(folder: string, manifest: Manifest): void {
  const text = `${JSON.stringify(manifest, null, 1)}\n`
  writeFileSync(join(folder, 'manifest.json'), text, { mode: 0o600 })
  writeFileSync(join(folder, 'manifest.json.sha256'), `${sha256(text)}  manifest.json\n`, { mode: 0o600 })
}

/** Returns whether a folder has a manifest. Throws Failure when this user may not read the folder, because it may be a complete backup. */
export function hasManifest(folder: string): boolean {
  const path = join(folder, 'manifest.json')
  try {
    accessSync(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES')
      throw new Failure(`${path} cannot be read (EACCES): run as its owner`)
    return false
  }
}

/** Reads the manifest of a backup. Throws NotFound, Damaged, and Misconfigured for the format of another version. */
export function readManifest(folder: string): Manifest {
  if (!hasManifest(folder)) throw new NotFound('Backup')
  const text = readOr(join(folder, 'manifest.json'))
  if (!readOr(join(folder, 'manifest.json.sha256')).startsWith(sha256(text))) {
    throw new Damaged(`${folder}/manifest.json has changed since it was written: use another backup`)
  }
  return parseManifest(text, folder)
}

/** Throws Damaged, and Misconfigured for the format of another version. */
export function parseManifest(text: string, folder: string): Manifest {
  const manifest = parsed(text, folder)
  if (manifest.format !== FORMAT) {
    throw new Misconfigured(`${folder} was written by Gitstead ${manifest.gitstead}: use that version or a newer one`)
  }
  return manifest
}

/** The checksum covers what was written, so only a manifest of another program can be invalid JSON. */
function parsed(text: string, folder: string): Manifest {
  try {
    return JSON.parse(text) as Manifest
  } catch {
    throw new Damaged(`${folder}/manifest.json is not JSON: use another backup`)
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Damaged(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** Writes the list of files of a unit. Returns the hash of the list. */
export function writeFileList(folder: string, unit: string, files: readonly FileEntry[]): string {
  const text = files.map(file => `${JSON.stringify(file)}\n`).join('')
  const path = join(folder, `${unit}.files`)
  // A unit without files has not created its folder.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, text, { mode: 0o600 })
  return sha256(text)
}

/** Reads the list of files of a unit. Throws Damaged when the list is missing or has changed. */
export function readFileList(folder: string, unit: Pick<Unit, 'path' | 'sha256'>): FileEntry[] {
  const path = join(folder, `${unit.path}.files`)
  const text = readOr(path)
  if (sha256(text) !== unit.sha256) throw new Damaged(`${path} has changed since it was written: use another backup`)
  return parseFileList(text)
}

export const parseFileList = (text: string): FileEntry[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as FileEntry)

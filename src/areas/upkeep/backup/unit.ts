// Writes one unit of a backup: copies files, or shares them with the previous backup when they have not changed.
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { OriginalFile } from '../../../git/repository/original.js'
import { isMissing } from '../../../storage/files.js'
import { copyHashed, folderMaker, hashFile, shareFile } from './copy.js'
import { Damaged, type FileEntry, type Manifest, readFileList, sha256, type Unit, writeFileList } from './manifest.js'

/** A finished backup whose files can be shared. */
export interface Previous {
  readonly folder: string
  readonly manifest: Manifest
  readonly units: ReadonlyMap<string, Unit>
}

/** Totals that grow with each added file. */
interface Totals {
  files: number
  bytes: number
  new_files: number
  new_bytes: number
}

export interface Draft {
  /** The folder of the backup that is being written. */
  readonly folder: string
  readonly previous: Previous | null
  readonly totals: Totals
  /** Called after each file, to show the progress. */
  tick(): void
}

export class UnitWriter {
  private readonly files = new Map<string, FileEntry>()
  private readonly earlier: Map<string, FileEntry>
  private readonly makeFolder = folderMaker()
  private readonly fresh = new Set<string>()

  constructor(
    private readonly draft: Draft,
    readonly path: string
  ) {
    const unit = draft.previous?.units.get(path)
    const list = unit && draft.previous ? listOf(draft.previous, unit) : []
    const damaged = new Set(draft.previous?.manifest.damaged?.filter(file => file.unit === path).map(file => file.path))
    this.earlier = new Map(list.filter(file => !damaged.has(file.path)).map(file => [file.path, file]))
  }

  /** Continues a finished unit of the same draft. */
  static resume(draft: Draft, unit: Unit, files: readonly FileEntry[]): UnitWriter {
    const writer = new UnitWriter({ ...draft, previous: null }, unit.path)
    for (const file of files) {
      writer.files.set(file.path, file)
      writer.fresh.add(file.path)
    }
    return writer
  }

  has(path: string): boolean {
    return this.files.has(path)
  }

  paths(): string[] {
    return [...this.files.keys()]
  }

  /** The files that no earlier backup has compared with their checksums. */
  unchecked(): string[] {
    return this.draft.previous?.manifest.damaged === undefined ? this.paths() : [...this.fresh]
  }

  /**
   * Copies a file. Returns false when the file does not exist. A file whose name is the hash of its content (`named`) counts as
   * unchanged when its size is the same; any other file must also have the same modification time.
   */
  async copy(path: string, original: string, named = false): Promise<boolean> {
    const found = this.place(path)
    const shared = this.share(path, original, named)
    if (shared === 'gone') return false
    if (shared) return this.add(shared, false)
    const copied = await copyHashed(original, found)
    return copied ? this.add({ path, ...copied }, true) : false
  }

  /** Does the same with a file that another machine reads out: `write` returns false when it does not exist. */
  async fetch(
    { path, size, modified }: OriginalFile,
    write: (place: string) => Promise<boolean>,
    named: boolean
  ): Promise<boolean> {
    const place = this.place(path)
    const shared = this.shareEqual(path, { size, mtimeMs: modified }, named)
    if (shared) return this.add(shared, false)
    // Another try begins with the whole file again.
    rmSync(place, { force: true })
    if (!(await write(place))) return false
    return this.add({ path, ...(await hashFile(place)), modified }, true)
  }

  /** Adds a file with this content. */
  write(path: string, content: string | Buffer): void {
    const bytes = typeof content === 'string' ? Buffer.from(content, 'latin1') : content
    const place = this.place(path)
    this.drop(path)
    writeFileSync(place, bytes, { flag: 'wx', mode: 0o600 })
    this.add({ path, size: bytes.length, sha256: sha256(bytes), modified: Date.now() }, true)
  }

  /** Adds a file that is already written to its place. */
  adopt(file: FileEntry): void {
    this.add(file, true)
  }

  /** Returns the place of a file of this unit, and creates the folder for it. */
  place(path: string): string {
    const place = join(this.draft.folder, this.path, path)
    this.makeFolder(dirname(place))
    return place
  }

  /** Removes a file from the unit. */
  drop(path: string): void {
    const file = this.files.get(path)
    if (!file) return
    rmSync(join(this.draft.folder, this.path, path), { force: true })
    this.files.delete(path)
    this.count(file, -1, this.fresh.delete(path))
  }

  /** Writes the list of files. Returns the record of the unit for the manifest. */
  finish(project?: Unit['project']): Unit {
    const files = [...this.files.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    const list = writeFileList(this.draft.folder, this.path, files)
    return { path: this.path, files: files.length, bytes, sha256: list, ...(project ? { project } : {}) }
  }

  /** Removes the whole unit, because its original no longer exists. */
  abandon(): void {
    for (const path of this.paths()) this.drop(path)
    rmSync(join(this.draft.folder, this.path), { recursive: true, force: true })
  }

  private share(path: string, original: string, named: boolean): FileEntry | 'gone' | undefined {
    if (!this.earlier.has(path)) return undefined
    try {
      return this.shareEqual(path, statSync(original), named)
    } catch (error) {
      if (isMissing(error)) return 'gone'
      throw error
    }
  }

  private shareEqual(
    path: string,
    { size, mtimeMs }: { readonly size: number; readonly mtimeMs: number },
    named: boolean
  ): FileEntry | undefined {
    const earlier = this.earlier.get(path)
    if (!earlier || !this.draft.previous) return undefined
    if (size !== earlier.size || (!named && mtimeMs !== earlier.modified)) return undefined
    const from = join(this.draft.previous.folder, this.path, path)
    return shareFile(from, this.place(path)) ? earlier : undefined
  }

  private add(file: FileEntry, fresh: boolean): true {
    this.files.set(file.path, file)
    if (fresh) this.fresh.add(file.path)
    this.count(file, 1, fresh)
    this.draft.tick()
    return true
  }

  private count({ size }: FileEntry, by: 1 | -1, fresh: boolean): void {
    const { totals } = this.draft
    totals.files += by
    totals.bytes += by * size
    if (!fresh) return
    totals.new_files += by
    totals.new_bytes += by * size
  }
}

/** A damaged or deleted list of an earlier backup does not make this one fail: the files are copied again. */
function listOf({ folder }: Previous, unit: Unit): FileEntry[] {
  try {
    return readFileList(folder, unit)
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    return []
  }
}

// Lists the files of a kind in one place, for a move to the other place. Names from a bucket become paths here, so each must have
// exactly the form that the appliance gives them.
import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { config } from '../../../config.js'
import { keptArchives } from '../../../git/repository/archive-cache.js'
import { pathOfBlob } from '../../../storage/blobs.js'
import { isMissing } from '../../../storage/files.js'
import { LFS_NAME, localLfsObjects } from '../../../storage/lfs.js'
import type { Kind, Place } from '../../../storage/places.js'
import { localRecords, RECORDS_NAME } from '../../../storage/records.js'
import { listObjects } from '../../../storage/s3.js'
import { storedFiles, storedFolders } from '../../../storage/stored-files.js'
import { localUploads } from '../../../storage/uploads.js'
import { endedOf } from '../../ci/builds/files/bucket-uploads.js'

export type MovableKind = Exclude<Kind, 'backups'>

export interface MovableFile {
  /** The path below the home, and the name of the object. */
  readonly name: string
  /** Bytes. */
  readonly size: number
}

const FORMS: { readonly [kind in MovableKind]: { readonly start: string; readonly form: RegExp } } = {
  artifacts: { start: 'artifacts/', form: /^artifacts\/\d{1,7}\/(\d{1,10})-\d{1,5}\.zip$/ },
  traces: { start: 'traces/', form: /^traces\/\d{1,7}\/(\d{1,10})-\d{1,5}\.log$/ },
  uploads: {
    start: 'uploads/',
    form: /^uploads\/\d{1,10}\/[0-9a-f]{32}\/[A-Za-z0-9_+-][A-Za-z0-9_.+-]{0,199}$/
  },
  caches: { start: 'cache/builds/', form: /^cache\/builds\/\d{1,10}\/[0-9a-f]{64}\.zip$/ },
  lfs: { start: 'lfs/', form: LFS_NAME },
  records: { start: 'records/', form: RECORDS_NAME },
  archives: { start: 'cache/archives/', form: /^cache\/archives\/[A-Za-z0-9_-]{1,100}\/[0-9a-f]{64}$/ }
}

/** Yields the files of a kind that may move, in batches. Files of builds that run, or of no build, are not among them. */
export async function* movableFiles(kind: MovableKind, from: Place): AsyncGenerator<MovableFile[]> {
  const { start, form } = FORMS[kind]
  for await (const batch of from === 's3' ? listObjects(start) : localFiles(kind)) {
    const files = batch.filter(({ name }) => form.test(name))
    if (kind !== 'artifacts' && kind !== 'traces') yield files
    else yield await endedOf(files.map(file => ({ ...file, build: Number(form.exec(file.name)?.[1]) })))
  }
}

async function* localFiles(kind: MovableKind): AsyncGenerator<MovableFile[]> {
  if (kind === 'artifacts' || kind === 'traces') {
    for (const folder of await storedFolders(kind))
      yield measured((await storedFiles(kind, folder)).map(({ path }) => path))
  } else if (kind === 'uploads') {
    for await (const { path } of localUploads()) yield measured([path])
  } else if (kind === 'lfs') {
    yield* localLfsObjects()
  } else if (kind === 'records') {
    yield* localRecords()
  } else if (kind === 'archives') {
    yield measured((await keptArchives()).map(({ path }) => path))
  } else {
    const root = pathOfBlob('cache/builds')
    for (const project of await namesIn(root)) {
      yield measured((await namesIn(join(root, project))).map(name => join(root, project, name)))
    }
  }
}

async function measured(paths: readonly string[]): Promise<MovableFile[]> {
  const found = await Promise.all(
    paths.map(async path => {
      const size = await stat(path).then(({ size }) => size, unlessMissing)
      return size === undefined ? [] : [{ name: relative(config().home, path), size }]
    })
  )
  return found.flat()
}

const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder).catch(unlessMissing)) ?? []

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}

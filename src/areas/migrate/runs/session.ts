// A migration at work: its source, with a client for the instance and one for each project, because each part of the source is read in
// runs of its own.
import { join } from 'node:path'
import type { Origin } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { BadParameters } from '../../../errors.js'
import { SourceRefusal } from '../../projects/imports/source-failures.js'
import { BadProjectArchive } from '../../upkeep/project-archives/format.js'
import { type OpenClient, openClient } from '../sources/client.js'
import type { Reader, Source } from '../sources/source.js'
import { type Migration, placeOf, tokenOf } from './migrations.js'
import { READERS } from './readers.js'
import { newUnreadable, type Unreadable } from './skips.js'
import { endRun, partOf, runOf, workingOn } from './work-folder.js'

export interface Session {
  readonly migration: Migration
  readonly reader: Reader
  readonly place: string
  /** The user of the token. */
  readonly login: string
  readonly unreadable: Unreadable
  readonly origin: Origin
  readonly signal: AbortSignal
  readonly progress: (what: string, done: number, total: number) => void
}

/** A part of the source: the instance, or one project. */
export interface Part {
  readonly folder: string
  readonly run: number
  readonly client: OpenClient
  readonly source: Source
  /** The next run asks for each page again. */
  end(): Promise<void>
}

export type Given = Pick<Session, 'origin' | 'signal'> & Partial<Pick<Session, 'progress'>>

/** Works on a whole source, one process at a time. Throws AlreadyRunning, ReadElsewhere, and SourceFailure when it cannot be read at all. */
export const withSource = <T>(
  migration: Migration,
  given: Given,
  work: (session: Session, part: Part) => Promise<T>
): Promise<T> =>
  workingOn(migration, given.signal, async signal => {
    const session = await openSession(migration, { ...given, signal })
    return withPart(session, INSTANCE, async part =>
      work({ ...session, login: (await part.source.about()).username }, part)
    )
  })

export async function openSession(migration: Migration, given: Given): Promise<Session> {
  const load = READERS[migration.kind]
  if (!load) throw new BadParameters(`this version has no reader for ${migration.kind}`)
  const reader = await load()
  const place = placeOf(migration)
  return { progress: () => {}, ...given, migration, reader, place, login: '', unreadable: newUnreadable() }
}

/** Works on a part of the source, `instance` or the id of a project. */
export async function withPart<T>(session: Session, id: string, work: (part: Part) => Promise<T>): Promise<T> {
  const { migration, reader, signal } = session
  const folder = partOf(migration, id)
  const run = await runOf(folder)
  const url = new URL(migration.url)
  const client = openClient({
    base: reader.base(url),
    pages: url,
    headers: reader.headers(tokenOf(migration)),
    folder: join(folder, 'pages'),
    run,
    rate: migration.rate,
    maxBytes: config().imports.max_size,
    ignored: reader.ignored ?? [],
    signal
  })
  try {
    return await work({
      folder,
      run,
      client,
      source: reader.open(client, url, { commitComments: migration.comments === true }),
      end: () => endRun(folder, run)
    })
  } catch (error) {
    // The next run asks again for what the source has sent wrongly: it may have been mended.
    if (error instanceof SourceRefusal || error instanceof BadProjectArchive) await endRun(folder, run)
    throw error
  } finally {
    client.close()
  }
}

export const INSTANCE = 'instance'

// The drafts of a project on the disk, a file for each kind, because a reader yields them in its own order and an archive has another.
import { once } from 'node:events'
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { drained } from '../../../lib/drained.js'
import { KINDS, type Kind } from '../../upkeep/project-archives/format.js'
import { linesIn } from '../../upkeep/project-archives/read-archive.js'
import type { Draft } from '../sources/source.js'

/** What comes after its pipeline stays in the order of the reader. */
const fileOf = (kind: Kind): Kind => (KINDS.indexOf(kind) > KINDS.indexOf('pipeline') ? 'pipeline' : kind)

export interface Lines {
  write(text: string): Promise<void>
  end(): Promise<void>
}

/** Writes lines to a new file. */
export function openLines(path: string): Lines {
  const stream: WriteStream = createWriteStream(path, { mode: 0o600 })
  // The failure is thrown by the next write, or by `end`.
  let failure: unknown
  stream.on('error', error => {
    failure = error
  })
  return {
    write: async text => {
      if (failure !== undefined) throw failure
      if (!stream.write(`${text}\n`)) await drained(stream)
    },
    end: async () => {
      stream.end()
      await finished(stream)
    }
  }
}

/** Reads the lines of a file; none when it does not exist. */
export async function* readLines(path: string): AsyncGenerator<string> {
  const stream = createReadStream(path)
  try {
    await once(stream, 'open')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  yield* linesIn(stream, path)
}

/** Where the drafts of a part of the source are. */
export const spoolOf = (part: string): string => join(part, 'spool')

/** Stores drafts. Returns when all are on the disk. */
export async function writeSpool(folder: string, drafts: AsyncIterable<Draft>): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const open = new Map<Kind, Lines>()
  try {
    for await (const draft of drafts) {
      const kind = fileOf(draft.kind)
      const lines = open.get(kind) ?? openLines(join(folder, kind))
      open.set(kind, lines)
      await lines.write(JSON.stringify(draft))
    }
  } finally {
    for (const lines of open.values()) await lines.end()
  }
}

/** Yields the merge requests that were read last of a part of the source. */
export async function* readMergeRequests(part: string): AsyncGenerator<Draft> {
  for await (const line of readLines(join(spoolOf(part), 'merge_request'))) yield JSON.parse(line) as Draft
}

/** Yields the drafts in the order of an archive. */
export async function* readSpool(folder: string): AsyncGenerator<Draft> {
  for (const kind of KINDS) {
    if (fileOf(kind) !== kind) continue
    for await (const line of readLines(join(folder, kind))) yield JSON.parse(line) as Draft
  }
}

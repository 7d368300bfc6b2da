// Reads a file with its content in Base64 ("Repository"). The response for a large file is sent while git reads the
// file, because it would otherwise take four times its size in memory.
import type { Readable } from 'node:stream'
import { config } from '../../../config.js'
import { TooLarge } from '../../../errors.js'
import { lastCommitOfPath } from '../../../git/history/commits.js'
import { blobSize, openBlob, readBlob } from '../../../git/objects/blob.js'
import { LARGE_OBJECT } from '../../../git/objects/reader.js'
import { missingBlob, type PathEntry } from '../../../git/objects/tree.js'
import { pacedStream } from '../../../lib/paced-stream.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { findEntryOf } from './contents.js'
import { storedPath } from './files.js'
import type { File } from './repository.view.js'

/** Milliseconds after which a client that reads nothing of a large file is disconnected. */
const PATIENCE = 60_000

export interface FoundFile {
  readonly repository: string
  readonly ref: string
  readonly commitId: string
  readonly entry: PathEntry
}

/** Finds a file of a commit, branch or tag. Throws NotFound for the commit or the file. */
export async function findFile(project: ProjectRow, path: string, ref: string): Promise<FoundFile> {
  return { ref, ...(await findEntryOf(project, ref, storedPath(path))) }
}

/** Reads a file; for a large one it returns the whole response as a stream of `size` bytes. Throws TooLarge. */
export async function readFound(
  found: FoundFile
): Promise<File | { readonly stream: Readable; readonly size: number }> {
  const { repository, entry, commitId } = found
  const limit = config().git.max_file_size
  const size = await blobSize(repository, entry.id)
  if (size === null) throw missingBlob(repository, entry)
  if (size > limit) throw new TooLarge(`413 The file is larger than ${limit} bytes: read it by its raw URL`)
  if (size > LARGE_OBJECT) return readLarge(found, size)
  const [content, last] = await Promise.all([
    readBlob(repository, entry.id, limit),
    lastCommitOfPath(repository, commitId, entry.path)
  ])
  if (!content) throw missingBlob(repository, entry)
  return { ...facts(found, size, last), content: content.toString('base64') }
}

const facts = ({ ref, commitId, entry }: FoundFile, size: number, last: string | null) => ({
  file_name: entry.name,
  file_path: entry.path,
  size,
  encoding: 'base64',
  ref,
  blob_id: entry.id,
  commit_id: commitId,
  last_commit_id: last ?? commitId
})

async function readLarge(found: FoundFile, size: number) {
  const { repository, entry, commitId } = found
  const last = await lastCommitOfPath(repository, commitId, entry.path)
  const blob = await openBlob(repository, entry.id)
  if (!blob) throw missingBlob(repository, entry)
  const head = Buffer.from(`${JSON.stringify(facts(found, size, last)).slice(0, -1)},"content":"`)
  const tail = Buffer.from('"}')
  const stream = pacedStream(inBase64(blob.stream, head, tail), PATIENCE)
  stream.once('close', () => blob.stream.destroy())
  return { stream, size: head.length + 4 * Math.ceil(size / 3) + tail.length }
}

async function* inBase64(content: Readable, head: Buffer, tail: Buffer) {
  yield head
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of content as AsyncIterable<Buffer>) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    const whole = bytes.length - (bytes.length % 3)
    rest = bytes.subarray(whole)
    if (whole > 0) yield Buffer.from(bytes.toString('base64', 0, whole))
  }
  yield Buffer.concat([Buffer.from(rest.toString('base64')), tail])
}

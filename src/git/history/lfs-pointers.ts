// Finds the pointers of git LFS in a history. A pointer is a small file that names an object by its SHA-256. Two processes read the
// history one after the other, with a file between them: each needs one of the few places for git.
import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { config } from '../../config.js'
import { DamagedRepository } from '../objects/objects.js'
import { isObjectId } from '../objects/reader.js'
import { feed, outputOf, startGit } from '../process/run.js'

/** The specification of LFS: a pointer has fewer bytes. */
const LARGEST = 1024
const OID = /^oid sha256:([0-9a-f]{64})$/m
const SIZE = /^size (\d{1,15})$/m

export interface Part {
  /** Objects whose whole history belongs to the part. */
  readonly tips: readonly string[]
  /** Objects whose history does not. */
  readonly without?: readonly string[]
}

/**
 * Calls `found` with the SHA-256 of each pointer in a part of the history, also repeatedly, and with the size that it names, if it does.
 * Throws GitFailure, DamagedRepository.
 */
export async function findPointers(
  repository: string,
  { tips, without = [] }: Part,
  signal: AbortSignal,
  found: (oid: string, size: number | undefined) => void
): Promise<void> {
  if (tips.length === 0) return
  if (![...tips, ...without].every(isObjectId)) throw new TypeError('not names of objects')
  const list = join(config().home, 'tmp', `small-files-${randomUUID()}`)
  await mkdir(dirname(list), { recursive: true, mode: 0o700 })
  const options = { repository, long: true, signal }
  try {
    const filters = [`--filter=blob:limit=${LARGEST}`, '--filter=object:type=blob', '--filter-provided-objects']
    const walk = ['rev-list', '--objects', '--no-object-names', ...filters, '--stdin']
    const walking = await startGit(walk, options)
    const names = [...tips, ...without.map(id => `^${id}`)].map(line => `${line}\n`)
    const fed = feed(Buffer.from(names.join('')), walking)
    await pipeline(outputOf(walk, walking), createWriteStream(list, { flags: 'wx', mode: 0o600 }))
    await fed
    const read = ['cat-file', '--batch', '--buffer']
    const reading = await startGit(read, options)
    const sent = feed(createReadStream(list), reading)
    for await (const content of blobsIn(repository, outputOf(read, reading))) {
      const [, oid] = OID.exec(content) ?? []
      const [, size] = SIZE.exec(content) ?? []
      if (oid !== undefined) found(oid, size === undefined ? undefined : Number(size))
    }
    await sent
  } finally {
    await rm(list, { force: true })
  }
}

/** Yields the contents of the blobs in the output of `cat-file --batch`. It keeps one chunk and one small blob. */
async function* blobsIn(repository: string, output: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of output) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    for (;;) {
      const end = rest.indexOf(10, at)
      if (end === -1) break
      const header = rest.toString('latin1', at, end)
      const [, size] = /^[0-9a-f]{40} blob (\d{1,4})$/.exec(header) ?? []
      if (size === undefined) throw new DamagedRepository(repository, `git answers ${header.slice(0, 100)}`)
      // A line break follows the content.
      const next = end + 1 + Number(size) + 1
      if (next > rest.length) break
      yield rest.toString('latin1', end + 1, next - 1)
      at = next
    }
    rest = rest.subarray(at)
  }
}

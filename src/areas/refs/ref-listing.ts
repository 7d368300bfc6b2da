// Answers the list of all branches or tags within limits: the API does not paginate them, and there may be any number.
import type { Readable } from 'node:stream'
import { holdBytes } from '../../git/budget.js'
import { batches } from '../../lib/batches.js'
import { pacedStream } from '../../lib/paced-stream.js'

/** The most bytes of one answer: about 50,000 branches. */
export const REF_LIST_BYTES = 32 * 1024 * 1024
/** So many records are made at a time. A list that has no more is answered at once. */
const PART = 200
/** Milliseconds after which a client that takes nothing of a long list is given up. */
const PATIENCE = 60_000

export interface LongListing {
  readonly stream: Readable
  readonly size: number
  /** Whether records are left out, because the list is longer than the limit. */
  readonly cut: boolean
}

/** The headers of a list that is sent as a stream. */
export const listingHeaders = ({ size, cut }: LongListing) => ({
  'content-type': 'application/json; charset=utf-8',
  'content-length': size,
  ...(cut && { 'x-gitstead-truncated': 'true' })
})

/** Makes the answer of `items`; `view` gives the records of at most 200 at a time. */
export async function listRecords<T, R>(
  items: readonly T[],
  view: (part: readonly T[]) => Promise<R[]>
): Promise<{ readonly records: R[] } | LongListing> {
  if (items.length <= PART) return { records: await view(items) }
  // Kept as the bytes that are sent, which take a tenth of the memory of the records.
  const release = await holdBytes(REF_LIST_BYTES)
  try {
    const { parts, size, cut } = await write(items, view)
    const stream = pacedStream(parts, PATIENCE)
    stream.once('close', release)
    return { stream, size, cut }
  } catch (error) {
    release()
    throw error
  }
}

async function write<T, R>(items: readonly T[], view: (part: readonly T[]) => Promise<R[]>) {
  const parts: Buffer[] = [Buffer.from('[')]
  let size = 2
  let cut = false
  for (const some of batches(items, PART)) {
    const lines: string[] = []
    for (const record of await view(some)) {
      const line = `${size === 2 ? '' : ','}${JSON.stringify(record)}`
      const bytes = Buffer.byteLength(line)
      cut = size + bytes > REF_LIST_BYTES
      if (cut) break
      size += bytes
      lines.push(line)
    }
    parts.push(Buffer.from(lines.join('')))
    if (cut) break
  }
  parts.push(Buffer.from(']'))
  return { parts, size, cut }
}

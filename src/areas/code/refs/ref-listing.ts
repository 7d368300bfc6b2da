// Builds the list of all branches or tags within limits: the API does not paginate them, and there may be any number.
import type { Readable } from 'node:stream'
import { holdBytes } from '../../../git/objects/budget.js'
import { batches } from '../../../lib/batches.js'
import { pacedStream } from '../../../lib/paced-stream.js'

/** The maximum number of bytes of one response: about 50,000 branches. */
const REF_LIST_BYTES = 32 * 1024 * 1024
/** The number of records that are built at a time. A shorter list is sent at once. */
const PART = 200
/** Milliseconds after which a client that reads nothing of a long list is disconnected. */
const PATIENCE = 60_000

export interface LongListing {
  readonly stream: Readable
  readonly size: number
  /** Whether records are omitted because the list exceeds the limit. */
  readonly cut: boolean
}

/** The headers of a list that is sent as a stream. */
export const listingHeaders = ({ size, cut }: LongListing) => ({
  'content-type': 'application/json; charset=utf-8',
  'content-length': size,
  ...(cut && { 'x-gitstead-truncated': 'true' })
})

/** Builds the response for `items`; `view` returns the records of at most 200 items. */
export async function listRecords<T, R>(
  items: readonly T[],
  view: (part: readonly T[]) => Promise<R[]>
): Promise<{ readonly records: R[] } | LongListing> {
  if (items.length <= PART) return { records: await view(items) }
  // Stored as the bytes that are sent, which take a tenth of the memory of the records.
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

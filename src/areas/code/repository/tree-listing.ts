// Lists a folder as JSON within limits: a tree may have any number of entries, and names of any length.
import type { Readable } from 'node:stream'
import { holdBytes } from '../../../git/objects/budget.js'
import { type PathEntry, walkTree } from '../../../git/objects/tree.js'
import { pacedStream } from '../../../lib/paced-stream.js'
import type { FoundFolder } from './contents.js'
import { viewTreeEntry } from './repository.view.js'

/** The maximum number of entries in one response: the API does not paginate trees. */
const TREE_LIMIT = 100_000
/** The maximum number of bytes in one response. */
const TREE_BYTES = 16 * 1024 * 1024
/** A list with at most this many entries, and characters in their paths, is sent at once; a longer one is written in parts. */
const FEW = 2000
const SHORT = 524_288
const PART = 65_536
/** Milliseconds after which a client that reads nothing of a long list is disconnected. */
const PATIENCE = 60_000

export type TreeListing =
  | { readonly entries: readonly PathEntry[] }
  | {
      readonly stream: Readable
      readonly size: number
      /** Whether entries are omitted because the list exceeds the limits. */
      readonly cut: boolean
    }

/** Lists the entries of a folder; with `recursive` also those of its subfolders. */
export async function listFolder(found: FoundFolder, recursive: boolean): Promise<TreeListing> {
  const entries: PathEntry[] = []
  let many = false
  let length = 0
  await walkTree(found.repository, { ...found, recursive }, entry => {
    length += entry.path.length
    many = entries.length === FEW || length > SHORT
    if (!many) entries.push(entry)
    return !many
  })
  return many ? listMany(found, recursive) : { entries }
}

/** Stores the response as the bytes that are sent, which take a tenth of the memory of its entries. */
async function listMany(found: FoundFolder, recursive: boolean): Promise<TreeListing> {
  const release = await holdBytes(TREE_BYTES)
  try {
    const { parts, size, cut } = await write(found, recursive)
    const stream = pacedStream(parts, PATIENCE)
    stream.once('close', release)
    return { stream, size, cut }
  } catch (error) {
    release()
    throw error
  }
}

async function write(found: FoundFolder, recursive: boolean) {
  const parts: Buffer[] = []
  let text = '['
  let [entries, size, cut] = [0, 2, false]
  await walkTree(found.repository, { ...found, recursive }, entry => {
    cut = entries === TREE_LIMIT || entry.path.length > TREE_BYTES
    if (cut) return false
    const line = `${entries === 0 ? '' : ','}${JSON.stringify(viewTreeEntry(entry))}`
    size += Buffer.byteLength(line)
    cut = size > TREE_BYTES
    if (cut) return false
    text += line
    entries++
    if (text.length < PART) return true
    parts.push(Buffer.from(text))
    text = ''
    return true
  })
  parts.push(Buffer.from(`${text}]`))
  size = parts.reduce((sum, part) => sum + part.length, 0)
  return { parts, size, cut }
}

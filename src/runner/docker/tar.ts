// Writes and reads the few small files that pass between the runner and a container.
import { pipeline, Readable } from 'node:stream'
import { extract, pack } from 'tar-stream'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** `content` is null for a folder. */
export interface Entry {
  readonly path: string
  readonly content: string | null
}

/** Returns a tar archive of the entries, all of one owner. */
export function tarOf(entries: readonly Entry[], owner: Owner): Readable {
  const archive = pack()
  for (const { path, content } of entries) {
    // The clock of the machine may differ from that of the engine: tar complains about files from the future.
    const header = { name: path, ...owner, mtime: new Date(0) }
    if (content === null) archive.entry({ ...header, type: 'directory', mode: 0o755 })
    else archive.entry({ ...header, mode: 0o644 }, content)
  }
  archive.finalize()
  return Readable.from(archive)
}

/** Returns the text of the first file of a tar archive, at most about `most` bytes of it; '' if the archive begins with anything else. */
export async function firstFileOf(archive: Readable, most: number): Promise<string> {
  const entries = extract()
  // A failure of the archive destroys the entries, so that the loop throws it.
  pipeline(archive, entries, () => undefined)
  for await (const entry of entries) {
    if (entry.header.type !== 'file') return ''
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of entry as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size > most) break
    }
    return Buffer.concat(chunks).toString()
  }
  return ''
}

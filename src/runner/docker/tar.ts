// Writes and reads the few small files that go between the runner and a container without the help of tar.
const BLOCK = 512

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
export function tarOf(entries: readonly Entry[], owner: Owner): Buffer {
  const blocks = entries.flatMap(({ path, content }) => {
    const body = Buffer.from(content ?? '')
    const padding = Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)
    return [headOf(content === null ? `${path}/` : path, content === null ? null : body.length, owner), body, padding]
  })
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)])
}

function headOf(path: string, size: number | null, { uid, gid }: Owner): Buffer {
  const head = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, length: number) =>
    head.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1')
  head.write(path, 0, 100, 'utf8')
  octal(size === null ? 0o755 : 0o644, 100, 8)
  octal(uid, 108, 8)
  octal(gid, 116, 8)
  octal(size ?? 0, 124, 12)
  octal(0, 136, 12)
  head.write(`        ${size === null ? '5' : '0'}`, 148, 'latin1')
  head.write('ustar\u000000', 257, 'latin1')
  octal(
    head.reduce((sum, byte) => sum + byte, 0),
    148,
    7
  )
  return head
}

/** Returns the content of the first regular file of a tar archive; undefined when the archive begins otherwise. */
export function firstFileOf(archive: Buffer): string | undefined {
  if (archive.length < BLOCK || !['0', '\0'].includes(archive.toString('latin1', 156, 157))) return undefined
  const size = Number.parseInt(archive.toString('latin1', 124, 136), 8)
  return Number.isInteger(size) ? archive.toString('utf8', BLOCK, BLOCK + size) : undefined
}

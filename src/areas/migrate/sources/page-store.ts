// The pages of a migration on the disk. A page whose run is the current one was fetched in it, so a run that was killed continues without
// asking for it again. Later runs ask with its ETag, and leave the file as it is when nothing has changed.
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

const pack = promisify(gzip)
const unpack = promisify(gunzip)

/** A run that stood still for longer asks again: milliseconds. */
const FRESH = 86_400_000

export interface StoredPage {
  readonly run: number
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

export interface PageStore {
  /** Returns a page, and whether it may be used without a request; undefined without a page. */
  read(url: string): Promise<{ readonly page: StoredPage; readonly isFresh: boolean } | undefined>
  write(url: string, page: StoredPage): Promise<void>
}

export function openPages(folder: string, run: number, limit: number): PageStore {
  const pathOf = (url: string) => {
    const name = createHash('sha256').update(url).digest('hex')
    return join(folder, name.slice(0, 2), `${name.slice(2)}.gz`)
  }
  return {
    read: async url => {
      const path = pathOf(url)
      const bytes = await readFile(path).catch(() => undefined)
      const page = bytes && (await parsed(bytes, limit))
      if (!page) return undefined
      const isFresh = page.run === run && (await stat(path)).mtimeMs > Date.now() - FRESH
      return { page, isFresh }
    },
    write: async (url, { body, ...about }) => {
      const path = pathOf(url)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const draft = `${path}.${randomBytes(6).toString('hex')}`
      await writeFile(draft, await pack(`${JSON.stringify(about)}\n${body}`, { level: 1 }), { mode: 0o600 })
      await rename(draft, path)
    }
  }
}

/** Undefined for a file that a power failure has cut: the page is fetched again. */
async function parsed(bytes: Buffer, limit: number): Promise<StoredPage | undefined> {
  try {
    const text = (await unpack(bytes, { maxOutputLength: limit + 65_536 })).toString('utf8')
    const end = text.indexOf('\n')
    return { ...(JSON.parse(text.slice(0, end)) as Omit<StoredPage, 'body'>), body: text.slice(end + 1) }
  } catch {
    return undefined
  }
}

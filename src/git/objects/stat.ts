// Looks at small files, such as those of refs, at once: they are in the kernel's memory, which answers in 3 us, and gives the content in
// 10. By way of another thread, there and back up to four times, it takes ten times as long.
import { type BigIntStats, readFileSync, statSync } from 'node:fs'

/** Tells whether an error of node:fs means that there is no such file. */
export const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')

/** Returns what the kernel knows of a file, or undefined when there is none. */
export function aboutFile(path: string): BigIntStats | undefined {
  try {
    // A missing file is no error here, but one below a file is.
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Returns the text of a small file, or undefined when there is none. */
export function readNow(path: string, encoding: BufferEncoding): string | undefined {
  try {
    return readFileSync(path, encoding)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

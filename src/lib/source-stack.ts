// Shows stack traces with the lines of the sources. Node.js could do this itself, but then every process would read the
// maps of all its modules at its start: 0.13 s of processor time and 10 MB.
import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

/** The maximum number of maps that are kept, because the same errors occur repeatedly. Further maps are not kept. */
const MOST = 100
/** A frame ends with a position in a built file. */
const PLACE = /(file:\/\/\/[^\s()]+\.js):(\d+):(\d+)/g

const maps = new Map<string, SourceMap | undefined>()

/** Returns a stack trace in which frames of built files refer to their source. Frames of files without a map stay unchanged. */
export function sourceStack(stack: string): string {
  return stack.replace(PLACE, (place, url: string, line: string, column: string) => {
    try {
      const file = fileURLToPath(url)
      const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1)
      if (!entry || !('originalSource' in entry)) return place
      return `${resolve(dirname(file), entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
    } catch {
      return place
    }
  })
}

function mapOf(file: string): SourceMap | undefined {
  if (maps.has(file)) return maps.get(file)
  const map = readMap(file)
  if (maps.size < MOST) maps.set(file, map)
  return map
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readText(`${file}.map`)))
  } catch {
    return undefined
  }
}

/** Packages have compressed maps. */
const readText = (path: string): string =>
  existsSync(path) ? readFileSync(path, 'utf8') : gunzipSync(readFileSync(`${path}.gz`)).toString()

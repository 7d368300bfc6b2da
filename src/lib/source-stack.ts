// Shows stack traces with the lines of the sources. Node.js could do this itself, but then every process would read the
// maps of all its modules at its start: 0.13 s of processor time and 10 MB.
import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The maximum number of maps that are kept, because the same errors occur repeatedly. Further maps are not kept. */
const MOST = 100
/** A frame ends with a position in a built file. */
const PLACE = /(file:\/\/\/[^\s()]+\.js):(\d+):(\d+)/g

const maps = new Map<string, SourceMap | undefined>()

/** The lines at which the files that a bundle joins begin, and their paths, in order (scripts/bundle.mjs). */
type Joined = readonly (readonly [line: number, path: string])[]
const tables = new Map<string, Joined>()

/** Returns a stack trace in which frames of built files refer to their source. Frames of files without a map stay unchanged. */
export function sourceStack(stack: string): string {
  return stack.replace(PLACE, (place, url: string, line: string, column: string) => {
    try {
      const [file, row] = joinedFile(fileURLToPath(url), Number(line))
      const entry = mapOf(file)?.findEntry(row - 1, Number(column) - 1)
      if (!entry || !('originalSource' in entry)) return place
      return `${resolve(dirname(file), entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
    } catch {
      return place
    }
  })
}

/** Returns the file that a bundle contains at a line, and the line there. Other files stay as they are. */
function joinedFile(file: string, line: number): readonly [file: string, line: number] {
  if (!file.includes('/dist/bundle/')) return [file, line]
  const table = tables.get(file) ?? (JSON.parse(readFileSync(`${file}.lines.json`, 'utf8')) as Joined)
  tables.set(file, table)
  const [first, path] = table.findLast(([first]) => first <= line) ?? [1, file]
  return [resolve(dirname(file), path), line - first + 1]
}

function mapOf(file: string): SourceMap | undefined {
  if (maps.has(file)) return maps.get(file)
  const map = readMap(file)
  if (maps.size < MOST) maps.set(file, map)
  return map
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))
  } catch {
    return undefined
  }
}

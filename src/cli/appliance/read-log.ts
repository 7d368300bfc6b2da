// Reads the log of `gitstead up` from the files in the home: its last lines, and then each new line.
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as sleep } from 'node:timers/promises'
import { logPath, OLD_FILES } from './log-file.js'

export interface LogLine {
  /** The original line. */
  readonly text: string
  /** Its fields; null for a line that is not JSON, such as the last output of a process that crashed. */
  readonly fields: { readonly [name: string]: unknown } | null
}

const POLL_MS = 200
const PIECE = 65_536

/** Returns the current size of the log in bytes. Lines before this position are old, lines after it are new. */
export const endOfLog = (): number => (existsSync(logPath()) ? statSync(logPath()).size : 0)

/** Returns the last `count` lines before `end` that fit, oldest first. Throws the error of the file system. */
export function lastLines(end: number, count: number, fits: (line: LogLine) => boolean): LogLine[] {
  const found: LogLine[] = []
  for (let age = 0; age <= OLD_FILES && found.length < count && existsSync(logPath(age)); age++) {
    const content = readFileSync(logPath(age))
    const lines = content.toString('utf8', 0, age === 0 ? end : content.length).split('\n')
    for (let at = lines.length - 1; at >= 0 && found.length < count; at--) {
      const text = lines[at]
      if (!text) continue
      const line = parse(text)
      if (fits(line)) found.push(line)
    }
  }
  return found.reverse()
}

/** Yields each line after `end`, including lines of files that start later. It never ends by itself. */
export async function* newLines(end: number, fits: (line: LogLine) => boolean): AsyncGenerator<LogLine> {
  let at = end
  let file: number | undefined
  let rest = ''
  // A character may be split between two pieces.
  const decoder = new StringDecoder('utf8')
  const piece = Buffer.alloc(PIECE)
  for (;;) {
    if (file === undefined && existsSync(logPath())) {
      file = openSync(logPath(), 'r')
      // A new file was started since `end` was read.
      if (fstatSync(file).size < at) at = 0
    }
    const read = file === undefined ? 0 : readSync(file, piece, 0, PIECE, at)
    if (read > 0) {
      at += read
      const lines = (rest + decoder.write(piece.subarray(0, read))).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines.filter(text => text !== '').map(parse)) if (fits(line)) yield line
      continue
    }
    // The file was read to its end, so nothing is lost if another file has its name now.
    if (file !== undefined && isReplaced(file)) {
      closeSync(file)
      file = undefined
      at = 0
      rest = ''
      continue
    }
    await sleep(POLL_MS)
  }
}

const isReplaced = (file: number) => existsSync(logPath()) && statSync(logPath()).ino !== fstatSync(file).ino

function parse(text: string): LogLine {
  try {
    const fields: unknown = JSON.parse(text)
    return { text, fields: typeof fields === 'object' && fields !== null ? (fields as LogLine['fields']) : null }
  } catch {
    return { text, fields: null }
  }
}

/** Formats a line for people: time, level, process, message, and the other fields. */
export function plainLine({ text, fields }: LogLine): string {
  if (fields === null) return text
  const { time, level, process, msg, pid: _, error, ...others } = fields
  const shown = Object.entries(others).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`
  )
  const fault =
    (error as { stack?: string } | undefined)?.stack ?? (error === undefined ? undefined : JSON.stringify(error))
  const line = [time, String(level).padEnd(5), process, msg, ...shown].filter(part => part !== undefined).join(' ')
  return fault === undefined ? line : `${line}\n${fault}`
}

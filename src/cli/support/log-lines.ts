// Picks what a support bundle shows of the log: known fields with values of a known form. Everything else stays out, such as the
// messages of errors, which may quote what users wrote, and lines that are not JSON.
import { readFileSync } from 'node:fs'
import { logPath, OLD_FILES } from '../appliance/log-file.js'

const WORD = /^[\w.-]{1,64}$/
const PROSE = /^[\w ,.;:()'-]{1,300}$/
const NUMBER = /^-?[\d.]{1,20}$/

/** Each known field with the form of its value as text. */
const FIELDS: { readonly [name: string]: RegExp } = {
  time: /^[\d:.TZ-]{20,30}$/,
  level: /^[a-z]{1,5}$/,
  process: /^[a-z]{1,16}$/,
  msg: PROSE,
  request: WORD,
  method: /^[A-Z]{3,10}$/,
  route: /^[\w/:.*-]{1,200}$/,
  task: WORD,
  queue: WORD,
  name: WORD,
  child: WORD,
  table: WORD,
  code: WORD,
  signal: /^SIG[A-Z0-9]{2,10}$/,
  ...Object.fromEntries(
    ['pid', 'status', 'ms', 'user', 'port', 'count', 'attempt', 'job', 'build', 'project', 'pipeline', 'mergeRequest']
      .concat(['processId', 'again_in_ms', 'away_ms'])
      .map(name => [name, NUMBER])
  )
}

export interface PickedLog {
  readonly text: string
  readonly lines: number
  /** Lines that are not JSON, such as the last output of a process that crashed. */
  readonly skipped: number
}

/** Returns the newest lines of the log, oldest first, as far as they fit into `most` bytes. */
export function pickLog(most: number, scrub: (text: string) => string): PickedLog {
  const picked: string[] = []
  let bytes = 0
  let skipped = 0
  for (let age = 0; age <= OLD_FILES; age++) {
    for (const text of linesOf(age).reverse()) {
      const line = pickLine(text, scrub)
      if (line === null) {
        skipped += 1
        continue
      }
      bytes += Buffer.byteLength(line) + 1
      if (bytes > most) return result(picked, skipped)
      picked.push(line)
    }
  }
  return result(picked, skipped)
}

const result = (picked: string[], skipped: number): PickedLog => ({
  text: picked
    .reverse()
    .map(line => `${line}\n`)
    .join(''),
  lines: picked.length,
  skipped
})

function linesOf(age: number): string[] {
  try {
    return readFileSync(logPath(age), 'utf8')
      .split('\n')
      .filter(line => line !== '')
  } catch {
    return []
  }
}

/** Returns a line with its known fields; null for a line that is not JSON. */
function pickLine(text: string, scrub: (text: string) => string): string | null {
  const fields = parsed(text)
  if (fields === null) return null
  const known = Object.entries(FIELDS).flatMap(([name, form]) => {
    const value = fields[name]
    const isPlain = (typeof value === 'string' || typeof value === 'number') && form.test(String(value))
    return isPlain ? [[name, typeof value === 'number' ? value : scrub(value)] as const] : []
  })
  // The console may print anything.
  const shown = known.filter(([name]) => name !== 'msg' || fields.from !== 'console')
  const error = pickError(fields.error, scrub)
  return JSON.stringify({ ...Object.fromEntries(shown), ...(error && { error }) })
}

function parsed(text: string): { readonly [name: string]: unknown } | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

const FRAME = /^\s+at [\w.<>[\]: ()/@$-]{1,400}$/

/** Shows the kind of an error and where it arose, without its message. */
function pickError(error: unknown, scrub: (text: string) => string): object | undefined {
  if (typeof error === 'string') return { name: /^([A-Z]\w{0,60}):/.exec(error)?.[1] ?? 'unknown' }
  if (typeof error !== 'object' || error === null) return undefined
  const { name, code, stack } = error as { name?: unknown; code?: unknown; stack?: unknown }
  return {
    ...(WORD.test(String(name)) && { name: scrub(String(name)) }),
    ...(code !== undefined && WORD.test(String(code)) && { code: scrub(String(code)) }),
    ...(typeof stack === 'string' && {
      stack: stack
        .split('\n')
        .filter(line => FRAME.test(line))
        .map(scrub)
    })
  }
}

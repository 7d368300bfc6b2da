// Reads the variables that a build reports: lines `NAME=value` in a file that its script has written.
import type { CiVariable } from './config-types.js'
import { printable, variableProblem } from './config-values.js'

/** The most bytes of all files of one build together. */
const DOTENV_LIMIT = 16_384
const MOST_VARIABLES = 150

/** `problem` continues a sentence about the report, such as `line 3 should be ...`. */
export type Dotenv =
  | { readonly variables: readonly CiVariable[]; readonly problem: null }
  | { readonly variables: null; readonly problem: string }

/**
 * Parses a report. When a name occurs twice, the last value counts. Not specified: empty lines and lines that begin with `#` are
 * ignored, and quotes are part of a value. Space at both ends of a name and a value is ignored.
 */
export function parseDotenv(bytes: Uint8Array): Dotenv {
  if (bytes.length > DOTENV_LIMIT) return refused(`is larger than ${DOTENV_LIMIT} bytes`)
  const text = decode(bytes)
  if (text === undefined || text.includes('\0')) return refused('is not text in UTF-8')
  const variables = new Map<string, CiVariable>()
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(line.replace(/\r$/, '')) ?? []
    const key = name.trim()
    const problem = key === '' ? 'should be NAME=value' : variableProblem(key, [value])
    if (problem) return refused(`line ${at + 1} (\`${printable(key === '' ? line : key)}\`) ${problem}`)
    variables.delete(key)
    variables.set(key, { key, value: value.trim() })
    if (variables.size > MOST_VARIABLES) return refused(`has more than ${MOST_VARIABLES} variables`)
  }
  return { variables: [...variables.values()], problem: null }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const refused = (problem: string): Dotenv => ({ variables: null, problem })

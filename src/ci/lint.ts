import { parseConfig } from './config.js'

/** Judges a CI file without making anything. Errors are all that were found, each `<path> <problem>`. */
export function lintConfig(text: string): { status: 'valid' | 'invalid'; errors: string[] } {
  const { errors } = parseConfig(text)
  return { status: errors.length === 0 ? 'valid' : 'invalid', errors }
}

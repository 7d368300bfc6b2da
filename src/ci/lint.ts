import { parseConfig } from './config.js'

/** Checks a CI file without creating anything. Gives all errors, each as `<path> <problem>`. */
export function lintConfig(text: string): { status: 'valid' | 'invalid'; errors: string[] } {
  const { errors } = parseConfig(text)
  return { status: errors.length === 0 ? 'valid' : 'invalid', errors }
}

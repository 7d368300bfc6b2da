import { type CiFiles, type ParsedConfig, parseConfig, readConfig } from './config.js'

export interface Lint {
  readonly status: 'valid' | 'invalid'
  /** Each is `<path> <problem>`. */
  readonly errors: readonly string[]
  /** Keys without an effect here. */
  readonly warnings: readonly string[]
}

/** Checks a CI file without creating anything. The file cannot include others. */
export const lintConfig = (text: string): Lint => lintOf(parseConfig(text))

/** Checks a CI file together with the files of its repository. */
export const lintWithFiles = async (text: string, files: CiFiles): Promise<Lint> =>
  lintOf(await readConfig(text, files))

const lintOf = ({ errors, warnings }: ParsedConfig): Lint => ({
  status: errors.length === 0 ? 'valid' : 'invalid',
  errors,
  warnings
})

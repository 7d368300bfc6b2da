// Finds every problem of a configuration. A process of the appliance reports only the first one and ends.
import { existsSync } from 'node:fs'
import { type ConfigReport, reportConfig } from '../config.js'
import { Misconfigured } from '../errors.js'
import { parseRanges } from '../lib/address.js'

/**
 * The configuration with all its problems. A given `file` replaces the home's config.yaml and the environment. Throws
 * Misconfigured when the file does not exist or does not hold keys and values.
 */
export function checkConfig(flags: { home?: string }, file?: string): ConfigReport {
  if (file !== undefined && !existsSync(file)) throw new Misconfigured(`configuration: ${file} does not exist`)
  const report = reportConfig({ home: flags.home }, file)
  const allow = report.settings.find(({ key }) => key === 'hooks.allow')
  const known = report.problems.some(({ path }) => path === 'hooks.allow')
  const text = known ? null : problemOfRanges(allow?.value as readonly string[])
  if (!allow || text === null) return report
  const problem = { path: 'hooks.allow', text: `hooks.allow: ${text}`, origin: allow.origin }
  return { ...report, problems: [...report.problems, problem] }
}

/** Why a text is not a range of addresses, or null. The processes that use the ranges find this out as they start. */
function problemOfRanges(texts: readonly string[]): string | null {
  try {
    parseRanges(texts)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

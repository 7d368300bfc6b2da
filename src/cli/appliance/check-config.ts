// Finds every problem of a configuration. The processes of the appliance report only the first one and end.
import { existsSync } from 'node:fs'
import { type ConfigReport, reportConfig } from '../../config.js'
import { Misconfigured } from '../../errors.js'
import { parseRanges } from '../../lib/address.js'

/** The settings that are lists of addresses and ranges. */
const RANGES: readonly string[] = ['hooks.allow', 'metrics.allow', 'trusted_proxies']

/**
 * Returns the configuration with all its problems. `file` replaces the home's config.yaml and the environment. Throws
 * Misconfigured when the file does not exist or does not contain keys and values.
 */
export function checkConfig(flags: { home?: string }, file?: string): ConfigReport {
  if (file !== undefined && !existsSync(file)) throw new Misconfigured(`configuration: ${file} does not exist`)
  const report = reportConfig({ home: flags.home }, file)
  const known = new Set(report.problems.map(({ path }) => path))
  const wrong = report.settings
    .filter(({ key }) => RANGES.includes(key) && !known.has(key))
    .flatMap(({ key, value, origin }) => {
      const text = problemOfRanges(value as readonly string[])
      return text === null ? [] : [{ path: key, text: `${key}: ${text}`, origin }]
    })
  return { ...report, problems: [...report.problems, ...wrong] }
}

/** Returns why a text is not a range of addresses, or null. The processes that use the ranges check this when they start. */
function problemOfRanges(texts: readonly string[]): string | null {
  try {
    parseRanges(texts)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

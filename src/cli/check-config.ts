// Finds every problem of a configuration. A process of the appliance reports only the first one and ends.
import { existsSync } from 'node:fs'
import { type ConfigReport, reportConfig } from '../config.js'
import { Misconfigured } from '../errors.js'
import { parseRanges } from '../lib/address.js'

/** The settings that are lists of addresses and ranges. */
const RANGES = ['hooks.allow', 'metrics.allow']

/**
 * The configuration with all its problems. A given `file` replaces the home's config.yaml and the environment. Throws
 * Misconfigured when the file does not exist or does not hold keys and values.
 */
export function checkConfig(flags: { home?: string }, file?: string): ConfigReport {
  if (file !== undefined && !existsSync(file)) throw new Misconfigured(`configuration: ${file} does not exist`)
  const report = reportConfig({ home: flags.home }, file)
  const wrong = RANGES.flatMap(path => {
    const setting = report.settings.find(({ key }) => key === path)
    const known = report.problems.some(problem => problem.path === path)
    const text = known ? null : problemOfRanges(setting?.value as readonly string[])
    return setting && text !== null ? [{ path, text: `${path}: ${text}`, origin: setting.origin }] : []
  })
  return { ...report, problems: [...report.problems, ...wrong] }
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

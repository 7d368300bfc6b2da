// All that is wrong with a configuration, where a process of the appliance would name the first thing and end.
import { existsSync } from 'node:fs'
import { type ConfigReport, reportConfig } from '../config.js'
import { Misconfigured } from '../errors.js'
import { parseRanges } from '../lib/address.js'

/** Throws Misconfigured for a named file that is not there, or is none of keys and values. */
export function checkConfig(flags: { home?: string }, file?: string): ConfigReport {
  if (file !== undefined && !existsSync(file)) throw new Misconfigured(`configuration: ${file} is not there`)
  const report = reportConfig({ home: flags.home }, file)
  const allow = report.settings.find(({ key }) => key === 'hooks.allow')
  const known = report.problems.some(({ path }) => path === 'hooks.allow')
  const text = known ? null : problemOfRanges(allow?.value as readonly string[])
  if (!allow || text === null) return report
  const problem = { path: 'hooks.allow', text: `hooks.allow: ${text}`, origin: allow.origin }
  return { ...report, problems: [...report.problems, problem] }
}

/** Which of the ranges is none; the processes that read them tell it when they start. */
function problemOfRanges(texts: readonly string[]): string | null {
  try {
    parseRanges(texts)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

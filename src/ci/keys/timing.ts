// Reads the keys of a job about time: how long it may take, and when it starts.
import { parseDuration } from '../../lib/duration.js'
import { given, reportAt, type Section } from '../config-values.js'

const LONGEST_TIMEOUT = 30 * 86_400
const LONGEST_DELAY = 7 * 86_400

/** Seconds that a job may take; null when the file has no limit. */
export function readTimeout(section: Section): number | null {
  return readSeconds(section, 'timeout', LONGEST_TIMEOUT, '30 days')
}

/** Seconds that a delayed job waits; null for any other job. */
export function readStartIn(section: Section, when: string | null): number | null {
  const seconds = readSeconds(section, 'start_in', LONGEST_DELAY, '1 week')
  if (when === 'delayed' && given(section, 'start_in') === undefined) {
    reportAt(section, 'start_in', 'is missing: a job with `when: delayed` needs it')
  }
  if (when !== 'delayed' && seconds !== null) reportAt(section, 'start_in', 'needs `when: delayed`')
  return when === 'delayed' ? seconds : null
}

/** A duration in seconds; null when the key is absent or wrong. */
export function readSeconds(section: Section, key: string, longest: number, words: string): number | null {
  const value = given(section, key)
  if (value === undefined) return null
  const text = typeof value === 'object' && value !== null && 'number' in value ? value.number : value
  const seconds = typeof text === 'string' ? parseDuration(text) : undefined
  if (seconds !== undefined && seconds > 0 && seconds <= longest) return seconds
  reportAt(section, key, `should be a duration such as \`3 minutes\`, at most ${words}`)
  return null
}

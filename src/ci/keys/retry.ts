// Reads `retry`: which failures of a build are repeated automatically.
import type { CiRetry } from '../config-types.js'
import {
  checkKeys,
  given,
  kindOf,
  readNumber,
  readNumbers,
  readSection,
  readTexts,
  reportAt,
  type Section
} from '../config-values.js'

const MOST_RETRIES = 2
/** The reasons that the file may name. Some of them never occur here. */
const REASONS = [
  'always',
  'unknown_failure',
  'script_failure',
  'api_failure',
  'stuck_or_timeout_failure',
  'runner_system_failure',
  'runner_unsupported',
  'stale_schedule',
  'job_execution_timeout',
  'archived_failure',
  'unmet_prerequisites',
  'scheduler_failure',
  'data_integrity_failure',
  'missing_dependency_failure',
  'image_pull_failure',
  'runner_interrupted',
  'output_limit',
  'memory_limit',
  'disk_limit',
  'downstream_pipeline_creation_failed',
  'downstream_pipeline_failed',
  'upstream_pipeline_failed',
  'upstream_bridge_project_not_found'
]

export function readRetry(section: Section): CiRetry | null {
  const value = given(section, 'retry')
  if (value === undefined) return null
  if (typeof value === 'object' && value !== null && 'number' in value) {
    const max = readNumber(section, 'retry', { least: 0, most: MOST_RETRIES })
    return max ? { max, when: [], exitCodes: [] } : null
  }
  if (!(value instanceof Map)) {
    reportAt(section, 'retry', `should be a number from 0 to ${MOST_RETRIES} or a mapping, not ${kindOf(value)}`)
    return null
  }
  const retry = readSection(section, 'retry')
  if (!retry) return null
  checkKeys(retry, ['max', 'when', 'exit_codes'], [])
  const max = readNumber(retry, 'max', { least: 0, most: MOST_RETRIES }) ?? MOST_RETRIES
  const when = readTexts(retry, 'when', REASONS).filter(reason => reason !== 'always')
  return max === 0 ? null : { max, when, exitCodes: readNumbers(retry, 'exit_codes', { least: 0, most: 255 }) }
}

export interface Failure {
  readonly reason: string | null
  readonly exitCode: number | null
}

/** Whether a failure is repeated. `copies` counts the builds with that name so far, including the failed one. */
export function retriesAgain(retry: CiRetry, { reason, exitCode }: Failure, copies: number): boolean {
  if (copies > retry.max) return false
  // Repeats a failure without conditions, and one that either list names.
  if (retry.when.length === 0 && retry.exitCodes.length === 0) return true
  return (reason !== null && retry.when.includes(reason)) || (exitCode !== null && retry.exitCodes.includes(exitCode))
}

// The input of a build, what its executor needs from outside, and its result.
import type { Readable } from 'node:stream'
import type { Variable } from './variables.js'

export type ArtifactsWish = {
  name: string
  paths: string[]
  exclude: string[]
  untracked: boolean
  when: 'on_success' | 'on_failure' | 'always'
}

export type RunnerJob = {
  id: number
  /** Time limit in seconds, from the start to the end of the script. */
  timeout: number
  /** When a name occurs twice, the later entry wins. */
  variables: Variable[]
  script: string[]
  afterScript: string[]
  artifacts: ArtifactsWish | null
  /** The first lines of the trace. */
  header?: string[]
  /** Values that the trace must not show. */
  secrets: string[]
}

export type RunnerPort = {
  /** An existing, empty folder, such as makeWorkFolder returns. The executor always removes it at the end. */
  workFolder: string
  /** Makes the checkout. Its files must have no second name elsewhere (no hard links into a repository). */
  getSources(into: string, signal: AbortSignal): Promise<void>
  /** The zip archives that are unpacked over the sources. */
  dependencies: { name: string; open(): Promise<Readable> }[]
  /** Called again only after the last call has settled. A rejection ends the build. */
  writeTrace(chunk: Buffer): Promise<void>
  /** The archive no longer exists after this promise has settled. */
  putArtifacts(archive: { path: string; size: number; filename: string }): Promise<void>
  /** Aborting this signal cancels the build. */
  signal: AbortSignal
}

export type FailureReason =
  | 'script_failure'
  | 'job_execution_timeout'
  | 'output_limit'
  | 'runner_system_failure'
  | 'missing_dependency_failure'

export type RunnerResult = {
  status: 'success' | 'failed' | 'canceled'
  reason?: FailureReason
  exitCode?: number
  /** The error of the runner, for the sysadmin's log. The trace shows it only when it concerns the user. */
  error?: unknown
}

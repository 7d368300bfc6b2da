// What a build is made of, what its executor needs from outside, and what comes of it.
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
  /** Seconds, from the start to the end of the script. */
  timeout: number
  /** Later entries win. */
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
  /** An existing, empty folder, such as makeWorkFolder gives; removed at the end, whatever happens. */
  workFolder: string
  /** Makes the checkout. Its files must have no second name elsewhere (no hard links into a repository). */
  getSources(into: string, signal: AbortSignal): Promise<void>
  /** The zip archives to unpack over the sources. */
  dependencies: { name: string; open(): Promise<Readable> }[]
  /** Called again only when the last call has settled. A failure ends the build. */
  writeTrace(chunk: Buffer): Promise<void>
  /** The archive is gone once this has settled. */
  putArtifacts(archive: { path: string; size: number; filename: string }): Promise<void>
  /** Cancels the build. */
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
  /** What the runner stumbled on, for the log of the sysadmin: the trace shows it only where it is the user's business. */
  error?: unknown
}

// The canonical form of a CI file: every list is an array, defaults and inheritance are applied, nothing is optional.
// All of it can be written as JSON.

export const BUILD_WHENS = ['on_success', 'on_failure', 'always', 'manual'] as const
export type BuildWhen = (typeof BUILD_WHENS)[number]

export const ARTIFACT_WHENS = ['on_success', 'on_failure', 'always'] as const
export type ArtifactWhen = (typeof ARTIFACT_WHENS)[number]

export const ENVIRONMENT_ACTIONS = ['start', 'stop'] as const
export type EnvironmentAction = (typeof ENVIRONMENT_ACTIONS)[number]

export interface CiVariable {
  readonly key: string
  readonly value: string
}

export interface CiCache {
  readonly key: string | null
  readonly untracked: boolean
  readonly paths: readonly string[]
}

export interface CiArtifacts {
  readonly name: string | null
  readonly paths: readonly string[]
  readonly exclude: readonly string[]
  readonly untracked: boolean
  readonly when: ArtifactWhen
  /** Seconds after the upload; null means never. */
  readonly expireIn: number | null
}

export interface CiEnvironment {
  /** The name as it is written, with its variables not expanded. */
  readonly name: string
  readonly url: string | null
  readonly action: EnvironmentAction
  /** The name of the job that stops this environment. */
  readonly onStop: string | null
}

export interface CiJob {
  readonly name: string
  readonly stage: string
  readonly script: readonly string[]
  readonly beforeScript: readonly string[]
  readonly afterScript: readonly string[]
  readonly image: string | null
  readonly services: readonly string[]
  /** The global variables; the job's own variables replace those of the same name. */
  readonly variables: readonly CiVariable[]
  readonly cache: CiCache | null
  readonly tags: readonly string[]
  readonly allowFailure: boolean
  readonly when: BuildWhen
  readonly only: readonly string[]
  readonly except: readonly string[]
  readonly environment: CiEnvironment | null
  readonly artifacts: CiArtifacts | null
  /** The names of jobs; null means all jobs of earlier stages. */
  readonly dependencies: readonly string[] | null
  /** A regular expression without its slashes. */
  readonly coverage: string | null
}

/** `stages` are in the order of execution, `jobs` in the order of the file. */
export interface CiConfig {
  readonly stages: readonly string[]
  readonly jobs: readonly CiJob[]
}

// The canonical form of a CI file: every list is an array, defaults and inheritance are applied, nothing is optional.
// All of it can be written as JSON.

export const buildWhens = ['on_success', 'on_failure', 'always', 'manual'] as const
export type BuildWhen = (typeof buildWhens)[number]

export const artifactWhens = ['on_success', 'on_failure', 'always'] as const
export type ArtifactWhen = (typeof artifactWhens)[number]

export const environmentActions = ['start', 'stop'] as const
export type EnvironmentAction = (typeof environmentActions)[number]

export type CiVariable = { key: string; value: string }

export type CiCache = { key: string | null; untracked: boolean; paths: string[] }

export type CiArtifacts = {
  name: string | null
  paths: string[]
  exclude: string[]
  untracked: boolean
  when: ArtifactWhen
  /** Seconds after the upload; null means never. */
  expireIn: number | null
}

export type CiEnvironment = {
  /** The name as it is written, with its variables not expanded. */
  name: string
  url: string | null
  action: EnvironmentAction
  /** The name of the job that stops this environment. */
  onStop: string | null
}

export type CiJob = {
  name: string
  stage: string
  script: string[]
  beforeScript: string[]
  afterScript: string[]
  image: string | null
  services: string[]
  /** The global variables; the job's own variables replace those of the same name. */
  variables: CiVariable[]
  cache: CiCache | null
  tags: string[]
  allowFailure: boolean
  when: BuildWhen
  only: string[]
  except: string[]
  environment: CiEnvironment | null
  artifacts: CiArtifacts | null
  /** The names of jobs; null means all jobs of earlier stages. */
  dependencies: string[] | null
  /** A regular expression without its slashes. */
  coverage: string | null
}

/** `stages` are in the order of execution, `jobs` in the order of the file. */
export type CiConfig = { stages: string[]; jobs: CiJob[] }

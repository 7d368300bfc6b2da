// The one form that a CI file is brought to: every list an array, defaults and inheritance applied, nothing optional.
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
  /** Seconds after the upload; null is never. */
  expireIn: number | null
}

export type CiEnvironment = {
  /** As written: its variables are not expanded. */
  name: string
  url: string | null
  action: EnvironmentAction
  /** The name of the job that stops it. */
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
  /** The global ones with the job's own over them. */
  variables: CiVariable[]
  cache: CiCache | null
  tags: string[]
  allowFailure: boolean
  when: BuildWhen
  only: string[]
  except: string[]
  environment: CiEnvironment | null
  artifacts: CiArtifacts | null
  /** Null is all jobs of earlier stages. */
  dependencies: string[] | null
  /** A regular expression without its slashes. */
  coverage: string | null
}

/** `stages` in the order of execution, `jobs` in that of the file. */
export type CiConfig = { stages: string[]; jobs: CiJob[] }

// The canonical form of a CI file: every list is an array, defaults and inheritance are applied, nothing is optional.
// All of it can be written as JSON.
import type { Expression } from './rules/expression.js'

export const BUILD_WHENS = ['on_success', 'on_failure', 'always', 'manual', 'delayed'] as const
export type BuildWhen = (typeof BUILD_WHENS)[number]

export const ARTIFACT_WHENS = ['on_success', 'on_failure', 'always'] as const
type ArtifactWhen = (typeof ARTIFACT_WHENS)[number]

export const ENVIRONMENT_ACTIONS = ['start', 'stop', 'prepare', 'verify', 'access'] as const
export type EnvironmentAction = (typeof ENVIRONMENT_ACTIONS)[number]

export const ENVIRONMENT_TIERS = ['production', 'staging', 'testing', 'development', 'other'] as const
export type EnvironmentTier = (typeof ENVIRONMENT_TIERS)[number]

/** The users who may download artifacts, among those who can see the build. Other builds always get them. */
export const ARTIFACT_ACCESS = ['all', 'developer', 'maintainer', 'none'] as const
export type ArtifactAccess = (typeof ARTIFACT_ACCESS)[number]

export interface CiVariable {
  readonly key: string
  readonly value: string
  /** True: variables in the value are not replaced. */
  readonly raw?: true
}

export const CACHE_POLICIES = ['pull-push', 'pull', 'push'] as const

export interface CiCache {
  /** With `keyFiles`, the beginning of the key. */
  readonly key: string | null
  /** The files whose content determines the rest of the key; null for a literal key. */
  readonly keyFiles: readonly string[] | null
  readonly untracked: boolean
  readonly paths: readonly string[]
  readonly policy: (typeof CACHE_POLICIES)[number]
  readonly when: ArtifactWhen
  readonly fallbackKeys: readonly string[]
  /** True: builds of protected branches share it with those of other branches. */
  readonly unprotect: boolean
}

/** An image, or a service, that is started differently from its defaults. */
export interface CiContainer {
  readonly name: string
  /** The host name of a service. */
  readonly alias: string | null
  readonly entrypoint: readonly string[] | null
  readonly command: readonly string[] | null
  /** Variables of this service only. */
  readonly variables: readonly CiVariable[]
}

/** Usually only a name. */
export type CiImage = string | CiContainer

export interface CiArtifacts {
  readonly name: string | null
  readonly paths: readonly string[]
  readonly exclude: readonly string[]
  readonly untracked: boolean
  readonly when: ArtifactWhen
  /** Seconds after the upload; null means never. */
  readonly expireIn: number | null
  /** The same as the CI file writes it. Builds of earlier versions lack it. */
  readonly expiry?: string | null
  /** Patterns of files with variables for the builds that get these artifacts. */
  readonly dotenv: readonly string[]
  readonly access: ArtifactAccess
}

export interface CiEnvironment {
  /** The name as written, with its variables not expanded. */
  readonly name: string
  readonly url: string | null
  readonly action: EnvironmentAction
  /** The name of the job that stops this environment. */
  readonly onStop: string | null
  /** Seconds after a deployment until the environment is stopped; null for never. */
  readonly autoStopIn: number | null
  readonly tier: EnvironmentTier | null
}

/** A job that must end before another job starts. */
export interface CiNeed {
  /** The name of a job, or of all jobs that `parallel` has made from it. */
  readonly job: string
  /** Whether the artifacts of that job are unpacked. */
  readonly artifacts: boolean
  /** True: the pipeline may lack that job. */
  readonly optional: boolean
}

/** A job of another pipeline, whose artifacts are unpacked. Texts may contain variables. */
export interface CiOuterNeed {
  readonly job: string
  /** The path of a project: the job is in its newest successful pipeline of `ref`; null with `pipeline`. */
  readonly project: string | null
  readonly ref: string | null
  /** The id of a pipeline that led to this one, or of a pipeline that such a pipeline started. */
  readonly pipeline: string | null
  /** True: the artifacts may be missing. */
  readonly optional: boolean
}

/** A variable with a token that this service signs: it proves to other services which build has it. */
export interface CiIdToken {
  readonly name: string
  /** The services that the token is meant for. Texts may contain variables. */
  readonly audiences: readonly string[]
}

/** When a failed build is repeated automatically. */
export interface CiRetry {
  readonly max: number
  /** The reasons of failures that are repeated; empty for all reasons. */
  readonly when: readonly string[]
  /** The exit codes that are repeated; empty for all exit codes. */
  readonly exitCodes: readonly number[]
}

/** An included file, as the CI file names it. */
export interface CiInclude {
  readonly local?: string
  readonly project?: string
  readonly ref?: string
  readonly file?: readonly string[]
  readonly remote?: string
  readonly template?: string
  readonly component?: string
  /** Values for the inputs of the file, as in JSON. */
  readonly inputs?: { readonly [name: string]: unknown }
}

/** The pipeline that a job starts instead of a script. Texts may contain variables. */
export interface CiTrigger {
  /** The path of another project; null for a pipeline of the same commit, made from `include`. */
  readonly project: string | null
  /** Null: the default branch of that project. */
  readonly branch: string | null
  readonly include: readonly CiInclude[] | null
  /** Whether the build ends together with that pipeline, and with its status. */
  readonly awaited: boolean
  /** Whether that pipeline gets the variables of the job, and the variables that this pipeline was started with. */
  readonly forwardsOwn: boolean
  readonly forwardsGiven: boolean
}

/** One entry of `rules`. All its conditions must hold; null means that it lacks the key. */
export interface CiRule {
  readonly if: Expression | null
  readonly changes: readonly string[] | null
  /** The ref that `changes` compares with; null for the commit before the push. */
  readonly compareTo: string | null
  readonly exists: readonly string[] | null
  readonly when: BuildWhen | 'never' | null
  readonly startIn: number | null
  readonly allowFailure: boolean | null
  readonly variables: readonly CiVariable[]
  readonly needs: readonly CiNeed[] | null
  readonly interruptible: boolean | null
}

export interface CiJob {
  readonly name: string
  /** The name in the file: `parallel` makes several jobs from one. */
  readonly baseName: string
  readonly stage: string
  readonly script: readonly string[]
  readonly beforeScript: readonly string[]
  readonly afterScript: readonly string[]
  readonly image: CiImage | null
  readonly services: readonly CiImage[]
  /** The global variables; the job's own variables replace those with the same name. */
  readonly variables: readonly CiVariable[]
  /** The names of the variables that the job itself has. */
  readonly ownVariables: readonly string[]
  readonly caches: readonly CiCache[]
  readonly tags: readonly string[]
  readonly allowFailure: boolean
  readonly when: BuildWhen
  /** Names, keywords and expressions of refs; empty for all refs. */
  readonly only: readonly string[]
  readonly except: readonly string[]
  /** Conditions that must hold as well, and conditions that must not: from `only` and `except` as mappings. */
  readonly onlyRule: CiRule | null
  readonly exceptRules: readonly CiRule[]
  readonly environment: CiEnvironment | null
  readonly artifacts: CiArtifacts | null
  /** The names of jobs; null means all jobs of earlier stages. */
  readonly dependencies: readonly string[] | null
  /** A regular expression without its slashes. */
  readonly coverage: string | null
  /** Null: the job waits for all earlier stages. */
  readonly needs: readonly CiNeed[] | null
  readonly outerNeeds: readonly CiOuterNeed[]
  /** Null: only and except decide. */
  readonly rules: readonly CiRule[] | null
  /** Its number among the jobs that `parallel` has made, from 1. */
  readonly parallel: { readonly index: number; readonly total: number } | null
  readonly retry: CiRetry | null
  /** Seconds. */
  readonly timeout: number | null
  readonly interruptible: boolean
  /** Seconds that a job with `when: delayed` waits. */
  readonly startIn: number | null
  /** One build of a group runs at a time. The text may contain variables. */
  readonly resourceGroup: string | null
  readonly idTokens: readonly CiIdToken[]
  /** The exit codes that count as allowed failures, in addition to `allowFailure`. */
  readonly allowFailureCodes: readonly number[]
  readonly trigger: CiTrigger | null
  /** The path of a project whose newest pipeline the job follows; it may contain variables. Null for other jobs. */
  readonly mirrors: string | null
}

export const NEW_COMMIT_ACTIONS = ['conservative', 'interruptible', 'none'] as const
export type NewCommitAction = (typeof NEW_COMMIT_ACTIONS)[number]

export interface CiWorkflow {
  /** They decide whether there is a pipeline at all; null means always. */
  readonly rules: readonly CiRule[] | null
  /** What happens to the pipeline when its branch gets a new commit. */
  readonly onNewCommit: NewCommitAction
  /** Whether the first failure cancels the rest. */
  readonly stopsOnFailure: boolean
  /** The name of the pipeline, which may contain variables. */
  readonly name: string | null
}

/** `stages` are in the order of execution, `jobs` in the order of the file. */
export interface CiConfig {
  readonly stages: readonly string[]
  readonly jobs: readonly CiJob[]
  /** The global variables. */
  readonly variables: readonly CiVariable[]
  readonly workflow: CiWorkflow
}

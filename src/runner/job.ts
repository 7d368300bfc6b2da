// The input of a build, the port through which its executor reaches the outside, and its result.
import type { Duplex, Readable } from 'node:stream'
import type { Variable } from './variables.js'

export interface ArtifactsWish {
  readonly name: string
  readonly paths: readonly string[]
  readonly exclude: readonly string[]
  readonly untracked: boolean
  readonly when: 'on_success' | 'on_failure' | 'always'
  /** Patterns of files with variables for later builds. */
  readonly dotenv?: readonly string[]
}

/** Files that a build reuses in later builds. */
export interface CacheWish {
  /** The key, which may contain variables. */
  readonly key: string | null
  /** Keys of caches to try when this one is missing. */
  readonly fallbackKeys: readonly string[]
  readonly paths: readonly string[]
  readonly untracked: boolean
  readonly policy: 'pull-push' | 'pull' | 'push'
  readonly when: ArtifactsWish['when']
  /** Builds of protected branches have separate caches. */
  readonly ending: 'protected' | 'non_protected'
}

type CacheName = { readonly key: string } & Pick<CacheWish, 'ending'>

/** The caches of the project. */
export interface CacheStore {
  /** The most bytes of one archive. */
  readonly limit: number
  open(name: CacheName): Promise<Readable | undefined>
  /** Moves the archive from this path. */
  put(name: CacheName, archive: string): Promise<void>
  remove(name: CacheName): Promise<void>
}

/** An image that a build requests. The names may contain variables. */
export interface ContainerWish {
  readonly name: string
  /** The host name of a service. */
  readonly alias: string | null
  readonly entrypoint: readonly string[] | null
  readonly command: readonly string[] | null
  /** Variables of this service only, which override those of the job. */
  readonly variables?: readonly Omit<Variable, 'public'>[]
}

export interface RunnerJob {
  readonly id: number
  /** Time limit in seconds, from the start to the end of the script. */
  readonly timeout: number
  /** When a name occurs twice, the later entry wins. */
  readonly variables: readonly Variable[]
  readonly script: readonly string[]
  readonly afterScript: readonly string[]
  readonly artifacts: ArtifactsWish | null
  readonly caches?: readonly CacheWish[]
  /** The first lines of the trace. */
  readonly header?: readonly string[]
  /** Values that the trace must not show. */
  readonly secrets: readonly string[]
  /** For the Docker executor only: without an image, the configured image is used. */
  readonly image?: ContainerWish | null
  readonly services?: readonly ContainerWish[]
  /** The owner of these containers: the appliance and its worker. */
  readonly owner?: { readonly instance: string; readonly worker: number }
}

/** The place for the sources: the project folder of the build, in its sandbox. */
export interface SourcesPlace {
  /**
   * Runs bash commands as the user of the build, under its limits. The commands have a socket at the descriptor `link`; `serve`
   * gets its other end. Returns the exit code, or undefined when something ended the commands.
   */
  run(commands: readonly string[], serve?: (socket: Duplex) => void): Promise<number | undefined>
  readonly link: number
  readonly signal: AbortSignal
}

/** The artifacts of an earlier build. */
interface Dependency {
  readonly name: string
  /** Writes the archive to a file, and replaces what an attempt before has left there. */
  copyTo(path: string, signal: AbortSignal): Promise<void>
}

export interface RunnerPort {
  /** An existing, empty folder, such as makeWorkFolder returns. The executor always removes it at the end. */
  readonly workFolder: string
  /**
   * Makes the checkout with commands that `place` runs. Nothing of a repository is unpacked outside of the sandbox: a small tree
   * may describe any number of files.
   */
  getSources(place: SourcesPlace): Promise<void>
  /** The zip archives that are unpacked over the sources. */
  readonly dependencies: readonly Dependency[]
  /** When absent, the build has no caches. */
  readonly cacheStore?: CacheStore | undefined
  /** Called again only after the last call has settled. A rejection ends the build. */
  writeTrace(chunk: Buffer): Promise<void>
  /** The archive no longer exists after this promise has settled. */
  putArtifacts(archive: { path: string; size: number; filename: string }): Promise<void>
  /** Stores the text of all files with variables. Throws a Failure for a text that is wrong. */
  putVariables(text: Uint8Array): Promise<void>
  /** Aborting this signal cancels the build. */
  readonly signal: AbortSignal
}

export type FailureReason =
  | 'script_failure'
  | 'job_execution_timeout'
  | 'output_limit'
  | 'memory_limit'
  | 'disk_limit'
  | 'runner_system_failure'
  | 'missing_dependency_failure'
  // Reasons of outside runners, and reasons that the server finds for them.
  | 'image_pull_failure'
  | 'runner_configuration_error'
  | 'runner_external_dependency_failure'
  | 'runner_interrupted'
  | 'stuck_or_timeout_failure'
  | 'unknown_failure'
  // Reasons of builds that start pipelines.
  | 'downstream_pipeline_creation_failed'
  | 'downstream_pipeline_failed'
  | 'upstream_pipeline_failed'
  | 'upstream_bridge_project_not_found'

export interface RunnerResult {
  readonly status: 'success' | 'failed' | 'canceled'
  readonly reason?: FailureReason
  readonly exitCode?: number
  /** The error of the runner, for the sysadmin's log. The trace shows it only when it concerns the user. */
  readonly error?: unknown
}

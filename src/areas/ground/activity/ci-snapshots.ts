// Copies of builds and pipelines for events: when a hook receives the start of a build, the build may have ended already.

interface Timed {
  readonly started_at: Date | null
  readonly finished_at: Date | null
}

export interface BuildSnapshot extends Timed {
  readonly id: number
  readonly project_id: number
  readonly name: string
  readonly stage: string
  readonly status: string
  readonly ref: string
  readonly tag: boolean
  readonly sha: string
  readonly allow_failure: boolean
  readonly user_id: number | null
  readonly pipeline: Timed & {
    readonly id: number
    readonly before_sha: string
    readonly status: string
    readonly duration: number | null
  }
}

export interface PipelineSnapshot {
  readonly id: number
  readonly project_id: number
  readonly ref: string
  readonly tag: boolean
  readonly sha: string
  readonly before_sha: string
  readonly status: string
  readonly user_id: number | null
  readonly created_at: Date
  readonly finished_at: Date | null
  readonly duration: number | null
  /** The attributes of its builds that change. The rest is read when a hook needs it. */
  readonly builds: readonly (Timed & { readonly id: number; readonly status: string })[]
}

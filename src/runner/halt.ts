// The reason why something outside stops a build. The first reason counts.
export type HaltReason =
  | 'canceled'
  | 'job_execution_timeout'
  | 'output_limit'
  | 'memory_limit'
  | 'disk_limit'
  | 'script_failure'
  | 'runner_system_failure'

/** One signal for everything that may stop a build. `done` stops the clock and no longer listens to the caller's signal. */
export class Halt {
  reason: HaltReason | undefined
  error: unknown
  readonly #controller = new AbortController()
  readonly #cancel: AbortSignal
  readonly #onCancel = () => this.now('canceled')
  #clock: NodeJS.Timeout | undefined

  /** `timeout` is in seconds. */
  constructor(timeout: number, cancel: AbortSignal) {
    this.#cancel = cancel
    // A timer can wait at most 24 days.
    this.#clock = setTimeout(() => this.now('job_execution_timeout'), Math.min(timeout * 1000, 2_147_483_647))
    if (cancel.aborted) this.now('canceled')
    cancel.addEventListener('abort', this.#onCancel, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  now(reason: HaltReason, error?: unknown): void {
    if (this.reason) return
    this.reason = reason
    this.error = error
    this.#controller.abort()
  }

  /** Stops the clock after the script: the steps after the script have limits of their own. */
  stopClock(): void {
    clearTimeout(this.#clock)
  }

  done(): void {
    this.stopClock()
    this.#cancel.removeEventListener('abort', this.#onCancel)
  }
}

// Where the scripts of a build run when it is not the sandbox: the container of the Docker executor (docker/).
import type { Places } from './sandbox.js'

/** Calls come in the order of the methods. A room that was never used can be closed. */
export interface Room {
  readonly places: Places
  /** Makes the images ready. Returns the variables that scripts find before those of the build. */
  prepare(lookup: (name: string) => string | undefined): Promise<Record<string, string>>
  /** Brings the project folder in. The scripts get `values` as their environment. */
  furnish(values: Map<string, string>): Promise<void>
  /** Runs commands with these values. Returns the exit code, or undefined when `signal` ended them. */
  run(commands: readonly string[], values: Map<string, string>, signal: AbortSignal): Promise<number | undefined>
  /** Replaces the project folder outside by the one inside. It may be called again. */
  bringBack(): Promise<void>
  /** Removes everything. Never rejects. */
  close(): Promise<void>
}

// The place where the scripts of a build run instead of the sandbox: the container of the Docker executor (docker/).
import type { Places } from './sandbox.js'

/** Methods are called in this order. A room that was never used can be closed. */
export interface Room {
  readonly places: Places
  /** Prepares the images. Returns the variables of the image, which those of the build override. */
  prepare(lookup: (name: string) => string | undefined): Promise<Record<string, string>>
  /** Copies the project folder into the room. The scripts get `values` as their environment. */
  furnish(values: Map<string, string>): Promise<void>
  /** Runs commands with these values. Returns the exit code, or undefined when `signal` ended them. */
  run(commands: readonly string[], values: Map<string, string>, signal: AbortSignal): Promise<number | undefined>
  /** Replaces the project folder outside with the one inside. It may be called again. */
  bringBack(): Promise<void>
  /** Removes everything. Never rejects. */
  close(): Promise<void>
}

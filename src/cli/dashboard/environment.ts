// Reads the environment of the dashboard: variables, terminal, keyboard.
import { closeSync, openSync } from 'node:fs'
import { ReadStream } from 'node:tty'

/** Returns the token in `GITSTEAD_TOKEN`, for `--url`; undefined when it is not set or empty. */
export const tokenOfEnvironment = (): string | undefined => process.env.GITSTEAD_TOKEN || undefined

/** Whether to use colors; see https://no-color.org. */
export const wantsColor = (): boolean => (process.env.NO_COLOR ?? '') === ''

/** Switches React to production mode: its development checks make frames slow. Call this before React is loaded. */
export function useProductionReact(): void {
  process.env.NODE_ENV = 'production'
}

/** Whether the terminal can show frames. A dumb terminal cannot move its cursor. */
export const hasScreen = (): boolean => Boolean(process.stdout.isTTY) && process.env.TERM !== 'dumb'

/**
 * Returns the stream of keys: standard input, or the terminal itself when the token came from standard input. Undefined
 * when there is no terminal.
 */
export function keyboard(tokenFromStdin: boolean): ReadStream | undefined {
  if (process.stdin.isTTY) return process.stdin
  if (!tokenFromStdin) return undefined
  let descriptor: number
  try {
    descriptor = openSync('/dev/tty', 'r')
  } catch {
    return undefined
  }
  try {
    return new ReadStream(descriptor)
  } catch {
    closeSync(descriptor)
    return undefined
  }
}

// Reads the environment for the dashboard: variables, terminal, keyboard.
import { closeSync, openSync } from 'node:fs'
import { ReadStream } from 'node:tty'

/** The token in `GITSTEAD_TOKEN`, for `--url`; undefined when it is not set or empty. */
export const tokenOfEnvironment = (): string | undefined => process.env.GITSTEAD_TOKEN || undefined

/** Whether colours are wanted; see https://no-color.org. */
export const wantsColor = (): boolean => (process.env.NO_COLOR ?? '') === ''

/** Switches React to production. Its checks for development make frames slow. Call this before React is loaded. */
export function useProductionReact(): void {
  process.env.NODE_ENV = 'production'
}

/** Whether a frame can be drawn. A dumb terminal cannot move its cursor. */
export const hasScreen = (): boolean => Boolean(process.stdout.isTTY) && process.env.TERM !== 'dumb'

/**
 * The stream of keys: standard input, or the terminal itself when standard input gave the token. Undefined when there
 * is no terminal.
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

// What the environment says to the dashboard.
import { closeSync, openSync } from 'node:fs'
import { ReadStream } from 'node:tty'

/** `GITSTEAD_TOKEN`, for `--url`. */
export const tokenOfEnvironment = (): string | undefined => process.env.GITSTEAD_TOKEN || undefined

/** https://no-color.org */
export const wantsColor = (): boolean => (process.env.NO_COLOR ?? '') === ''

/** React checks and explains more in development, which makes frames slow. Call it before React is loaded. */
export function useProductionReact(): void {
  process.env.NODE_ENV = 'production'
}

/** A dumb terminal has no places to write to. */
export const hasScreen = (): boolean => Boolean(process.stdout.isTTY) && process.env.TERM !== 'dumb'

/** Where keys come from: standard input, or the terminal itself where a token came by standard input. */
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

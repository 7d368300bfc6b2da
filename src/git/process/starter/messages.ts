// The messages between a process and its starter.

/** Starts a program. Its stdin, stdout and stderr are the next three connections to the starter's socket. */
export interface StartMessage {
  readonly id: number
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export type FromStarter =
  | { readonly listening: true }
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly error: string }
  | { readonly id: number; readonly code: number | null; readonly signal: NodeJS.Signals | null }

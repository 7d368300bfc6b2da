// A line on standard error that says how far a long command is. Only a terminal has it; messages go anywhere.

export interface ProgressLine {
  /** Shows where things are now, a few times a second at the most. */
  show(): void
  /** Writes a line that stays. */
  say(text: string): void
  end(): void
}

interface Progress {
  /** From 0 to 1; null when nobody knows. */
  readonly share: number | null
  readonly text: string
}

const PAUSE_MS = 100
const WIDTH = 24
const CLEAR = '\r\u001b[K'

export function progressLine(read: () => Progress, stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  // Whoever does not listen any more, such as `head`, does not stop what is under way.
  stream.on('error', () => undefined)
  let last = 0
  const wipe = () => stream.isTTY && stream.write(CLEAR)
  const show = () => {
    const now = Date.now()
    if (!stream.isTTY || now - last < PAUSE_MS) return
    last = now
    stream.write(`${CLEAR}${lineOf(read(), stream.columns ?? 80)}`)
  }
  const say = (text: string) => {
    wipe()
    // What a file says may not move the cursor of a sysadmin's terminal.
    stream.write(`${text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')}\n`)
    last = 0
  }
  return { show, say, end: () => void wipe() }
}

function lineOf({ share, text }: Progress, columns: number): string {
  if (share === null) return text.slice(0, columns - 1)
  const done = Math.round(Math.min(share, 1) * WIDTH)
  const percent = String(Math.floor(Math.min(share, 1) * 100)).padStart(3)
  return `${percent}% [${'#'.repeat(done)}${' '.repeat(WIDTH - done)}] ${text}`.slice(0, columns - 1)
}

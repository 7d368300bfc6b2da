// Shows progress in one line on stderr and overwrites it each time. It writes only to a terminal, so that the logs of
// cron stay empty.

export interface ProgressLine {
  /** Shows `done` of `total` as a bar, and `more` after it. When `total` is 0, it shows the label without a bar. */
  show(label: string, done: number, total: number, more?: string): void
  /** Clears the line. */
  end(): void
}

const WIDTH = 24
const PAUSE_MS = 100

export function progressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  if (!stream.isTTY) return { show: () => undefined, end: () => undefined }
  let last = 0
  let label = ''
  return {
    show: (what, done, total, more = '') => {
      const now = Date.now()
      if (what === label && now - last < PAUSE_MS && done < total) return
      last = now
      label = what
      const text = `${what} ${total > 0 ? `${bar(done, total)} ${done}/${total} ` : ''}${more}`
      stream.write(`\r${text.slice(0, (stream.columns || 80) - 1)}\u001b[K`)
    },
    end: () => {
      stream.write('\r\u001b[K')
    }
  }
}

function bar(done: number, total: number): string {
  const filled = Math.min(WIDTH, Math.floor((done / total) * WIDTH))
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}]`
}

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

/** A number of bytes as text for people, such as `1.4 GiB`. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const at = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** at
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at]}`
}

// The log of `gitstead up` in the home: it also keeps what the processes write to stderr, in files of limited size.
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { config } from '../../config.js'

/** Bytes after which a new file starts. */
const LARGEST = 16 * 1024 * 1024
/** Characters after which a line is written before its end arrives. */
const LONGEST_LINE = 65_536
/** How many files are kept in addition to the current one. */
export const OLD_FILES = 4

/** Returns the path of the current log file, or of an older one, where 1 is the newest. */
export const logPath = (age = 0) => join(config().home, 'run', age === 0 ? 'gitstead.log' : `gitstead.log.${age}`)

export class LogFile {
  private file = openSync(logPath(), 'a', 0o600)
  private size = fstatSync(this.file).size

  /** Writes to stderr and to the file. A full disk must not stop the appliance: then only stderr has the lines. */
  write(lines: string | Buffer): void {
    process.stderr.write(lines)
    try {
      this.size += writeSync(this.file, lines as Buffer)
      if (this.size > LARGEST) this.rotate()
    } catch {
      // An error cannot be logged where nothing can be written.
    }
  }

  /** Writes whole lines of a process, so that lines of two processes do not mix. */
  writeLinesOf(stream: Readable): void {
    let rest = ''
    stream.setEncoding('utf8').on('data', (text: string) => {
      const end = text.lastIndexOf('\n') + 1
      if (end === 0 && rest.length + text.length < LONGEST_LINE) {
        rest += text
        return
      }
      this.write(rest + text.slice(0, end || undefined))
      rest = end === 0 ? '' : text.slice(end)
    })
    stream.once('end', () => {
      if (rest !== '') this.write(`${rest}\n`)
    })
  }

  private rotate(): void {
    for (let age = OLD_FILES; age > 0; age--) {
      try {
        renameSync(logPath(age - 1), logPath(age))
      } catch {
        // There are not yet that many files.
      }
    }
    closeSync(this.file)
    this.file = openSync(logPath(), 'a', 0o600)
    this.size = 0
  }
}

// The terminal's alternate screen. Ink hands over whole frames; only lines that changed are written, each at its place,
// so that nothing flickers, scrolls or is left behind, also in a frame as high as the terminal.
import { EventEmitter } from 'node:events'
import type { Size } from './layout.js'

// Alternate screen, no cursor, no wrapping of what is wider than was thought.
const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[H\u001B[2J'
const LEAVE = '\u001B[0m\u001B[?7h\u001B[?25h\u001B[?1049l'
/** Terminals that know it show the lines at once; others ignore it. */
const BEGIN = '\u001B[?2026h'
const END = '\u001B[?2026l'

/** The first character for private use. */
const HELD = 0xe000

type Output = Pick<NodeJS.WriteStream, 'write' | 'on' | 'off'> & { columns?: number; rows?: number }

/** What Ink needs of an output. Without `isTTY`, as the cursor and the screen are not Ink's here. */
export class Screen extends EventEmitter {
  private shown: string[] = []
  private held: string[] = []
  private entered = false

  constructor(private readonly terminal: Output) {
    super()
  }

  get columns(): number {
    return this.terminal.columns || 80
  }

  get rows(): number {
    return this.terminal.rows || 24
  }

  get size(): Size {
    return { columns: this.columns, rows: this.rows }
  }

  enter(): void {
    if (this.entered) return
    this.entered = true
    this.terminal.write(ENTER)
    this.terminal.on('resize', this.resized)
    process.on('exit', this.leave)
  }

  /** Leaves the terminal as it was found; also the last thing when the process ends by a fault. */
  readonly leave = (): void => {
    if (!this.entered) return
    this.entered = false
    process.off('exit', this.leave)
    this.terminal.off('resize', this.resized)
    this.terminal.write(LEAVE)
  }

  /** Everything is drawn anew with the next frame. */
  forget(): void {
    this.shown = []
    if (this.entered) this.terminal.write('\u001B[0m\u001B[2J')
  }

  /**
   * Keeps a line for the frame that is being drawn, and gives a character to draw in its place. Ink takes every character
   * of a frame apart, 12,000 at 200x60: with lines held back a frame takes it a fraction of the time. Characters of this
   * area are in no line, as plain texts have none.
   */
  readonly hold = (line: string): string => String.fromCharCode(HELD + this.held.push(line) - 1)

  /** Shows a frame. */
  write(frame: string): boolean {
    const whole = frame.replace(/[\ue000-\uf8ff]/g, held => this.held[held.charCodeAt(0) - HELD] ?? '')
    this.held = []
    if (!this.entered || frame === '') return true
    const lines = whole.split('\n').slice(0, this.rows)
    const most = Math.max(lines.length, this.shown.length)
    let text = ''
    for (let at = 0; at < most; at++) {
      const line = lines[at] ?? ''
      // The line is emptied before and not after: behind the last column its end would be taken away.
      if (line !== this.shown[at]) text += `\u001B[${at + 1};1H\u001B[2K${line}\u001B[0m`
    }
    this.shown = lines
    return text === '' ? true : this.terminal.write(BEGIN + text + END)
  }

  private readonly resized = (): void => {
    this.forget()
    this.emit('size')
  }
}

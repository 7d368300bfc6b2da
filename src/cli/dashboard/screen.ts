// Writes frames to the alternate screen of the terminal. Ink passes whole frames, and we write only the lines that changed,
// each at its place. So nothing flickers, scrolls or stays behind, even when a frame is as high as the terminal.
import { EventEmitter } from 'node:events'
import type { Size } from './drawing/layout.js'

// ENTER: alternate screen, no cursor, and no wrapping, in case a line is wider than computed.
const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[H\u001B[2J'
const LEAVE = '\u001B[0m\u001B[?7h\u001B[?25h\u001B[?1049l'
/** A terminal that supports these codes shows all lines between them at once; others ignore the codes. */
const BEGIN = '\u001B[?2026h'
const END = '\u001B[?2026l'

/** The first character of the private use area of Unicode. */
const HELD = 0xe000

interface Output extends Pick<NodeJS.WriteStream, 'write' | 'on' | 'off'> {
  readonly columns?: number
  readonly rows?: number
}

/** The output that Ink writes to. It has no `isTTY`, because Ink must not control the cursor and the screen here. */
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

  /** Restores the terminal. It also runs when an error ends the process. */
  readonly leave = (): void => {
    if (!this.entered) return
    this.entered = false
    process.off('exit', this.leave)
    this.terminal.off('resize', this.resized)
    this.terminal.write(LEAVE)
  }

  /** Restores the normal screen while the process is stopped. */
  pause(): void {
    if (this.entered) this.terminal.write(LEAVE)
  }

  /** Takes over the screen again, which the shell has used in the meantime, and redraws the whole frame. */
  resume(): void {
    if (!this.entered) return
    this.terminal.write(ENTER)
    this.resized()
  }

  /** Clears the screen, so that the next frame writes every line. */
  forget(): void {
    this.shown = []
    if (this.entered) this.terminal.write('\u001B[0m\u001B[2J')
  }

  /**
   * Keeps the next frame, and returns a character that Ink draws in its place. No frame contains characters of the private
   * use area, because `plainText` replaces them.
   */
  readonly hold = (frame: string): string => String.fromCharCode(HELD + this.held.push(frame) - 1)

  /**
   * Shows a frame. Returns false when the terminal cannot take more for now. When Ink ends, it writes an empty line and then
   * an empty text, whose `written` reports that everything is written.
   */
  write(frame: string, written?: () => void): boolean {
    written?.()
    const whole = frame.replace(/[\ue000-\uf8ff]/g, held => this.held[held.charCodeAt(0) - HELD] ?? '')
    this.held = []
    if (!this.entered || frame.trim() === '') return true
    const lines = whole.split('\n').slice(0, this.rows)
    const most = Math.max(lines.length, this.shown.length)
    let text = ''
    for (let at = 0; at < most; at++) {
      const line = lines[at] ?? ''
      // Clear the line before writing, not afterwards: after the last column, that would delete the end of the text.
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

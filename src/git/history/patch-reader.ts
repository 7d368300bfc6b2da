// Parses the output of `git diff-tree --raw --patch -z` as it arrives: the list of changed files, then their texts.
// Text beyond the limits is read and dropped.
import { textOfPath } from '../objects/names.js'

/** How one file changed. */
export interface Patch {
  readonly oldPath: string
  readonly newPath: string
  /** Octal, as in git; `0` where there is no file. */
  readonly oldMode: string
  readonly newMode: string
  /** The ids of the blobs before and after the change, or of the commits of a submodule; zeros where there is no file. */
  readonly oldId: string
  readonly newId: string
  /** The status letter of git: A, C, D, M, R or T. */
  readonly status: string
  /** The hunks, after the lines with the two names. Empty for a file that changed only its name or its mode. */
  readonly text: string
  /** True when the text is omitted because it exceeds the limits. */
  readonly isTooLarge: boolean
}

export interface PatchSet {
  readonly patches: readonly Patch[]
  /** True when there are more files than `patches` holds. */
  readonly isCut: boolean
}

export interface PatchLimits {
  readonly files: number
  /** Bytes of all paths: no file follows the one that exceeds them. */
  readonly paths: number
  /** Bytes of the text of one file. */
  readonly text: number
  /** Bytes of all texts. */
  readonly texts: number
}

interface Entry {
  readonly oldPath: string
  readonly newPath: string
  readonly oldMode: string
  readonly newMode: string
  readonly oldId: string
  readonly newId: string
  readonly status: string
}

/** Begins a line before each text. No line within a text begins with it. */
const BORDER = Buffer.from('\ndiff --git ')
const END_OF_LIST = Buffer.from('\0\0')

export class PatchReader {
  readonly #entries: Entry[] = []
  readonly #texts: (string | null)[] = []
  #rest: Buffer = Buffer.alloc(0)
  #inList = true
  /** The bytes of the paths of the entries. */
  #paths = 0
  #isCut = false
  /** The number of texts that follow the list. */
  #wanted = 0
  #section: Buffer[] = []
  #size = 0
  #total = 0

  constructor(private readonly limits: PatchLimits) {}

  /** Takes the next part. Returns false when the reader needs no more parts. */
  take(chunk: Buffer): boolean {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (this.#inList) this.#takeList()
    if (!this.#inList) this.#takeTexts()
    return this.#inList || this.#texts.length < this.#wanted
  }

  /** `isWhole` means that git finished. Otherwise the last text may be incomplete, and is omitted. */
  end(isWhole: boolean): PatchSet {
    if (isWhole && !this.#inList && this.#rest.length > 0) {
      this.#add(this.#rest)
      this.#rest = Buffer.alloc(0)
      this.#close()
    }
    const texts = this.#perEntry()
    const patches = this.#entries.map((entry, at) => {
      const text = texts[at] ?? null
      return { ...entry, text: text ?? '', isTooLarge: text === null }
    })
    return { patches, isCut: this.#isCut }
  }

  /** The list: `:100644 100644 ID ID M`, a path, and for a rename a second path, each ended by a NUL; then another NUL. */
  #takeList(): void {
    for (;;) {
      const end = this.#rest.indexOf(0)
      if (end === 0) this.#endList(1)
      if (end < 1) return
      // The id of the commit comes before the first entry.
      if (this.#rest[0] !== 0x3a) {
        this.#rest = this.#rest.subarray(end + 1)
        continue
      }
      if (this.#entries.length === this.limits.files || this.#paths > this.limits.paths) {
        this.#skipList()
        return
      }
      const next = this.#readEntry(end)
      if (next === undefined) return
      this.#rest = this.#rest.subarray(next)
    }
  }

  #readEntry(end: number): number | undefined {
    const [oldMode = '', newMode = '', oldId = '', newId = '', letters = ''] = this.#rest
      .toString('latin1', 1, end)
      .split(' ')
    const first = this.#rest.indexOf(0, end + 1)
    if (first === -1) return undefined
    const status = letters.slice(0, 1)
    const isPair = status === 'R' || status === 'C'
    const second = isPair ? this.#rest.indexOf(0, first + 1) : first
    if (second === -1) return undefined
    const oldPath = textOfPath(this.#rest.subarray(end + 1, first))
    const newPath = isPair ? textOfPath(this.#rest.subarray(first + 1, second)) : oldPath
    this.#paths += second - end
    this.#entries.push({ oldPath, newPath, oldMode: modeOf(oldMode), newMode: modeOf(newMode), oldId, newId, status })
    return second + 1
  }

  #skipList(): void {
    this.#isCut = true
    const end = this.#rest.indexOf(END_OF_LIST)
    if (end === -1) this.#rest = this.#rest.subarray(-1)
    else this.#endList(end + 2)
  }

  #endList(length: number): void {
    this.#inList = false
    this.#wanted = this.#entries.length + this.#entries.filter(({ status }) => status === 'T').length
    // With a line end before the first text, all borders are the same.
    this.#rest = Buffer.concat([Buffer.from('\n'), this.#rest.subarray(length)])
  }

  #takeTexts(): void {
    let from = 0
    for (;;) {
      const border = this.#rest.indexOf(BORDER, from + (this.#isAtBorder(from) ? 1 : 0))
      if (border === -1) break
      this.#add(this.#rest.subarray(from, border + 1))
      this.#close()
      if (this.#texts.length >= this.#wanted) return
      from = border
    }
    // The border may be split between two parts.
    const sure = Math.max(from, this.#rest.length - BORDER.length)
    if (sure > from) {
      this.#add(this.#rest.subarray(from, sure))
      this.#rest = this.#rest.subarray(sure)
    } else this.#rest = this.#rest.subarray(from)
  }

  #isAtBorder(from: number): boolean {
    return this.#size === 0 && this.#rest.subarray(from, from + BORDER.length).equals(BORDER)
  }

  #add(bytes: Buffer): void {
    this.#size += bytes.length
    if (this.#size <= this.limits.text + 10_000) this.#section.push(Buffer.from(bytes))
  }

  #close(): void {
    const text = this.#size > this.limits.text + 10_000 ? null : textIn(Buffer.concat(this.#section, this.#size))
    const length = text?.length ?? 0
    const fits = text !== null && length <= this.limits.text && this.#total + length <= this.limits.texts
    if (fits) this.#total += length
    this.#texts.push(fits ? text : null)
    this.#section = []
    this.#size = 0
  }

  /** A file that became a symlink, or a symlink that became a file, has two texts: one of the removed file and one of the added file. */
  #perEntry(): (string | null)[] {
    let at = 0
    return this.#entries.map(({ status }) => {
      const text = this.#texts[at++] ?? null
      if (status !== 'T') return text
      const second = this.#texts[at++] ?? null
      return text === null || second === null ? null : text + second
    })
  }
}

const modeOf = (mode: string) => (mode === '000000' ? '0' : mode)

/** Omits the lines before the two names, because the entry contains their facts. */
function textIn(section: Buffer): string {
  const text = section.toString()
  const start = /^(?:--- |Binary files )/m.exec(text)
  return start ? text.slice(start.index) : ''
}

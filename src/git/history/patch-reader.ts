// Takes apart what `git diff-tree --raw --patch -z` prints, as it arrives: the list of changed files, then their texts. What is
// beyond the limits is read and dropped.

/** How one file changed. */
export interface Patch {
  readonly oldPath: string
  readonly newPath: string
  /** Octal, as git has them; `0` where there is no file. */
  readonly oldMode: string
  readonly newMode: string
  /** The letter of git: A, C, D, M, R or T. */
  readonly status: string
  /** The hunks, after the lines with the two names. Empty for a file that changed only its name or its mode. */
  readonly text: string
  /** True when the text is left out, because it is larger than the limits. */
  readonly isTooLarge: boolean
}

export interface PatchSet {
  readonly patches: readonly Patch[]
  /** True when there are more files than these. */
  readonly isCut: boolean
}

export interface PatchLimits {
  readonly files: number
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
  readonly status: string
}

/** Stands at the beginning of a line before each text, and no line of a text begins with it. */
const BORDER = Buffer.from('\ndiff --git ')
const END_OF_LIST = Buffer.from('\0\0')

export class PatchReader {
  readonly #entries: Entry[] = []
  readonly #texts: (string | null)[] = []
  #rest: Buffer = Buffer.alloc(0)
  #inList = true
  #isCut = false
  /** How many texts are to come. */
  #wanted = 0
  #section: Buffer[] = []
  #size = 0
  #total = 0

  constructor(private readonly limits: PatchLimits) {}

  /** Takes the next part. Returns false when it needs no more. */
  take(chunk: Buffer): boolean {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (this.#inList) this.#takeList()
    if (!this.#inList) this.#takeTexts()
    return this.#inList || this.#texts.length < this.#wanted
  }

  /** `isWhole`: git came to its end. Otherwise the last text may be a part only, and is left out. */
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

  /** The list: `:100644 100644 ID ID M`, a path, and for a rename a second one, each with a NUL at its end; then another NUL. */
  #takeList(): void {
    for (;;) {
      const end = this.#rest.indexOf(0)
      if (end === 0) this.#endList(1)
      if (end < 1) return
      // The id of the commit stands before the first entry.
      if (this.#rest[0] !== 0x3a) {
        this.#rest = this.#rest.subarray(end + 1)
        continue
      }
      if (this.#entries.length === this.limits.files) {
        this.#skipList()
        return
      }
      const next = this.#readEntry(end)
      if (next === undefined) return
      this.#rest = this.#rest.subarray(next)
    }
  }

  #readEntry(end: number): number | undefined {
    const [oldMode = '', newMode = '', , , letters = ''] = this.#rest.toString('latin1', 1, end).split(' ')
    const first = this.#rest.indexOf(0, end + 1)
    if (first === -1) return undefined
    const status = letters.slice(0, 1)
    const isPair = status === 'R' || status === 'C'
    const second = isPair ? this.#rest.indexOf(0, first + 1) : first
    if (second === -1) return undefined
    const oldPath = this.#rest.toString('utf8', end + 1, first)
    const newPath = isPair ? this.#rest.toString('utf8', first + 1, second) : oldPath
    this.#entries.push({ oldPath, newPath, oldMode: modeOf(oldMode), newMode: modeOf(newMode), status })
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

  /** A file that became a symlink, or the other way round, has two texts: of one that went and one that came. */
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

/** Leaves out the lines before the two names, which the entry tells. */
function textIn(section: Buffer): string {
  const text = section.toString()
  const start = /^(?:--- |Binary files )/m.exec(text)
  return start ? text.slice(start.index) : ''
}

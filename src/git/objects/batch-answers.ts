// Parses the answers of `git cat-file --batch-command` as they arrive. An answer is one line, followed by the content
// of the object when the question requested it.

export interface Answer {
  readonly id: string
  readonly type: string
  readonly size: number
  /** Null when the question did not request it, and when the content is too large. */
  readonly content: Buffer | null
}

export interface AnswerLimits {
  /** The bytes of the largest content that is kept. The content of a larger object is read and dropped. */
  readonly content: number
  /** Called with an answer before its content is dropped. */
  readonly tooLarge: (answer: Answer) => void
}

export interface AnswerReader {
  /** Takes the next bytes. */
  readonly take: (chunk: Buffer) => void
}

const LINE_LIMIT = 4096

/**
 * Cuts the stream into answers and passes each one to `give`; null means that no such object exists. `isContent` returns whether
 * content follows the line of the current answer. Throws when the stream is not a valid sequence of answers.
 */
export function readAnswers(
  isContent: () => boolean,
  give: (answer: Answer | null) => void,
  limits: AnswerLimits
): AnswerReader {
  let line: Buffer = Buffer.alloc(0)
  let body: { answer: Answer; bytes: Buffer; filled: number } | undefined
  /** The number of content bytes that are still to be dropped. */
  let dropped = 0

  function drop(chunk: Buffer, from: number): number {
    const part = Math.min(dropped, chunk.length - from)
    dropped -= part
    return from + part
  }

  function takeBody(chunk: Buffer, from: number): number {
    if (!body) return from
    const part = chunk.subarray(from, from + body.bytes.length - body.filled)
    part.copy(body.bytes, body.filled)
    body.filled += part.length
    if (body.filled === body.bytes.length) {
      const { answer, bytes } = body
      body = undefined
      give({ ...answer, content: bytes.subarray(0, -1) }) // the last byte is the newline that follows the content
    }
    return from + part.length
  }

  function takeLine(chunk: Buffer, from: number): number {
    const end = chunk.indexOf(10, from)
    const part = chunk.subarray(from, end === -1 ? chunk.length : end)
    line = line.length === 0 ? part : Buffer.concat([line, part])
    if (line.length > LINE_LIMIT) throw new Error('an answer line is too long')
    if (end === -1) return chunk.length
    const answer = parseLine(line.toString('latin1'))
    line = Buffer.alloc(0)
    if (!answer || !isContent()) give(answer)
    else if (answer.size <= limits.content) body = { answer, bytes: Buffer.allocUnsafe(answer.size + 1), filled: 0 }
    else {
      dropped = answer.size + 1
      give(answer)
      limits.tooLarge(answer)
    }
    return end + 1
  }

  return {
    take: chunk => {
      for (let at = 0; at < chunk.length; ) {
        at = dropped > 0 ? drop(chunk, at) : body ? takeBody(chunk, at) : takeLine(chunk, at)
      }
    }
  }
}

function parseLine(line: string): Answer | null {
  const found = /^([0-9a-f]{40}) (blob|tree|commit|tag) (\d+)$/.exec(line)
  if (found?.[1] && found[2]) return { id: found[1], type: found[2], size: Number(found[3]), content: null }
  if (/ (?:missing|ambiguous)$/.test(line)) return null
  throw new Error(`not an answer: ${line.slice(0, 200)}`)
}

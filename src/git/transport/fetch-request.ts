// Shortens the lists of wanted and existing commits in a fetch request before git reads it: git would allocate memory
// for each line, including repeated ones.

/** Lines that mean nothing more when they are repeated. Their beginning, up to the id, decides whether they are equal. */
const REPEATABLE = /^(?:want|have|shallow) [0-9a-f]{40}/

/**
 * Returns the decompressed body of POST git-upload-pack without repeated lines. From the first wrong line on, the rest
 * stays unchanged: git reports the error.
 */
export function withoutRepetitions(body: Buffer): Buffer {
  const seen = new Set<string>()
  const kept: Buffer[] = []
  let from = 0
  for (let at = 0; at + 4 <= body.length; ) {
    const digits = body.toString('latin1', at, at + 4)
    // 0000, 0001 and 0002 are markers without content.
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Math.max(Number.parseInt(digits, 16), 4) : Number.POSITIVE_INFINITY
    if (at + length > body.length) break
    const [line] = REPEATABLE.exec(body.toString('latin1', at + 4, Math.min(at + length, at + 52))) ?? []
    if (line !== undefined && seen.has(line)) {
      kept.push(body.subarray(from, at))
      from = at + length
    }
    if (line !== undefined) seen.add(line)
    at += length
  }
  return kept.length === 0 ? body : Buffer.concat([...kept, body.subarray(from)])
}

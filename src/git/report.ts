// git's answer to a push, cut into what the client may see at once and the report that is held back.
import { BadProtocol, flush, takePackets } from './pkt-line.js'

const heldLimit = 16 * 1024 * 1024

export type ReportHolder = {
  take: (chunk: Buffer) => void
  /** The report as the client gets it. */
  held: () => Buffer
  /** The report's own lines. */
  report: () => Buffer
}

/** `pass` gets what goes out at once: progress, errors, and the empty packets that keep a connection alive. */
export function splitReport(banded: boolean, pass: (part: Buffer) => void): ReportHolder {
  const held: Buffer[] = []
  const report: Buffer[] = []
  let left: Buffer = Buffer.alloc(0)
  let size = 0

  function hold(raw: Buffer, content: Buffer): void {
    size += raw.length
    if (size > heldLimit) throw new BadProtocol('the report is too long')
    held.push(raw)
    report.push(content)
  }

  return {
    take: chunk => {
      if (!banded) return hold(chunk, chunk)
      const { packets, rest } = takePackets(Buffer.concat([left, chunk]))
      left = Buffer.from(rest)
      for (const { content, raw } of packets) {
        if (content === null) hold(raw, Buffer.alloc(0))
        else if (content[0] === 1 && content.length > 1) hold(raw, content.subarray(1))
        else pass(raw)
      }
    },
    held: () => Buffer.concat(held),
    report: () => Buffer.concat(report)
  }
}

/** Ref -> null when done, else the reason; null when the report is not whole. A failed unpack fails every ref. */
export function parseReport(report: Buffer): Map<string, string | null> | null {
  if (!report.subarray(-4).equals(flush)) return null
  const found = new Map<string, string | null>()
  for (const { content } of takePackets(report).packets) {
    const line = (content ?? '').toString().replace(/\n$/, '')
    const [word, ref = '', ...reason] = line.split(' ')
    if (word === 'ok') found.set(ref, null)
    if (word === 'ng') found.set(ref, reason.join(' '))
  }
  return found
}

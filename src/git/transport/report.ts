// Splits git's answer to a push into the part that the client gets immediately and the report, which is held back.
import { BadProtocol, FLUSH, takePackets } from './pkt-line.js'

const HELD_LIMIT = 16 * 1024 * 1024

export interface ReportHolder {
  readonly take: (chunk: Buffer) => void
  /** The report as the bytes for the client. */
  readonly held: () => Buffer
  /** The lines of the report, without the sideband. */
  readonly report: () => Buffer
}

/**
 * Splits the output of git. `pass` gets the parts that are sent immediately: progress, errors, and the empty packets
 * that keep a connection alive.
 */
export function splitReport(banded: boolean, pass: (part: Buffer) => void): ReportHolder {
  const held: Buffer[] = []
  const report: Buffer[] = []
  let left: Buffer = Buffer.alloc(0)
  let size = 0

  function hold(raw: Buffer, content: Buffer): void {
    size += raw.length
    if (size > HELD_LIMIT) throw new BadProtocol('the report is too long')
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

/**
 * Maps each ref to null when git changed it, otherwise to the reason for the failure. Returns null when the report is
 * incomplete. After a failed unpack, git reports a failure for every ref.
 */
export function parseReport(report: Buffer): Map<string, string | null> | null {
  if (!report.subarray(-4).equals(FLUSH)) return null
  const found = new Map<string, string | null>()
  for (const { content } of takePackets(report).packets) {
    const line = (content ?? '').toString().replace(/\n$/, '')
    const [word, ref = '', ...reason] = line.split(' ')
    if (word === 'ok') found.set(ref, null)
    if (word === 'ng') found.set(ref, reason.join(' '))
  }
  return found
}

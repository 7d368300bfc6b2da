// Pushes: what the client wants is read first, for the policy; git's report is held back until the effects are recorded.
import { PassThrough, Readable } from 'node:stream'
import { BadProtocol, flush, type Packet, pktLine, sideband, takePackets } from './pkt-line.js'
import { refValue, ZERO } from './refs.js'
import { parseReport, type ReportHolder, splitReport } from './report.js'
import { type Exit, feed, type GitProcess, startGit } from './run.js'

export type PushCommand = { old: string; new: string; ref: string }

export type PushRequest = {
  /** Empty for the probe that a client sends before a large push. */
  commands: PushCommand[]
  capabilities: string[]
  /** The roots of a shallow client. */
  shallow: string[]
  /** The whole request again, commands included. */
  rest: Readable
}

export type PushResult = { ref: string; ok: boolean /** Why not, in git's words. */; reason: string | null }

const commandLimit = 10_000
const headLimit = 8 * 1024 * 1024
const patience = 10_000

/**
 * Reads the commands at the beginning of a push (the body of POST git-receive-pack, decompressed). Throws BadProtocol,
 * also for more than 10,000 commands.
 */
export async function readPushCommands(input: Readable): Promise<PushRequest> {
  const chunks = input[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const seen: Buffer[] = []
  const lines: Packet[] = []
  let size = 0
  for (let left: Buffer = Buffer.alloc(0); ; ) {
    const { done, value } = await chunks.next()
    if (done) throw new BadProtocol('the push breaks off')
    seen.push(value)
    size += value.length
    if (size > headLimit + value.length) throw new BadProtocol('too many changes in one push')
    left = Buffer.concat([left, value])
    // One by one: what follows the flush is the pack.
    for (let taken = takePackets(left, 1); ; taken = takePackets(left, 1)) {
      const [packet] = taken.packets
      if (!packet) break
      left = taken.rest
      if (packet.content === null) return { ...parseCommands(lines), rest: replay(seen, chunks) }
      lines.push(packet)
      if (lines.length > commandLimit) throw new BadProtocol('too many changes in one push')
    }
  }
}

function replay(seen: Buffer[], chunks: AsyncIterator<Buffer>): Readable {
  async function* all() {
    yield* seen
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
  }
  return Readable.from(all(), { objectMode: false })
}

function parseCommands(lines: Packet[]): Omit<PushRequest, 'rest'> {
  const commands: PushCommand[] = []
  const shallow: string[] = []
  let capabilities: string[] = []
  for (const { content } of lines) {
    const [line = '', offered] = (content ?? '').toString().replace(/\n$/, '').split('\0')
    if (line.startsWith('shallow ')) {
      shallow.push(line.slice('shallow '.length))
      continue
    }
    const found = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\n]+)$/.exec(line)
    if (!found?.[1] || !found[2] || !found[3]) throw new BadProtocol('not a change of a ref')
    if (offered !== undefined && commands.length === 0) capabilities = offered.split(' ').filter(Boolean)
    commands.push({ old: found[1], new: found[2], ref: found[3] })
  }
  return { commands, capabilities, shallow }
}

export type Push = {
  commands: PushCommand[]
  capabilities: string[]
  /** `rest` of readPushCommands. */
  input: Readable
  /**
   * Called once after git has ended in whatever way, with what has really become of each ref, even when the client has
   * gone. The client gets no report before it has settled, and none when it rejects.
   */
  beforeReport: (results: PushResult[]) => Promise<void>
  signal?: AbortSignal
}

export type Receiving = {
  /** The answer to the client. Destroying it, or an input that breaks off, ends git. */
  output: Readable
  /** The results, after beforeReport; rejects when that did or when the refs cannot be read. */
  done: Promise<PushResult[]>
}

/**
 * Hands a push to git. Progress goes to the client at once, the report waits. The slot of the process is free again
 * before `beforeReport` is called, so that it may use git itself. Throws Unavailable when too many wait.
 */
export async function receivePack(repository: string, push: Push): Promise<Receiving> {
  const args = ['receive-pack', '--stateless-rpc', repository]
  const git = await startGit(args, { repository, long: true, signal: push.signal })
  const stop = stopper(git)
  void feed(push.input, git, stop)
  const output = new PassThrough({ highWaterMark: 256 * 1024 })
  output.once('close', stop).on('error', () => {}) // whoever reads it hears of the error; nobody may be there any more
  const done = settle(repository, push, git, output)
  done.catch(error => output.destroy(error instanceof Error ? error : new Error(String(error))))
  return { output, done }
}

/**
 * Ends a push whose client has gone. The end of its input is enough: half a pack fails, and git takes its quarantine
 * folder away, which after a signal it leaves behind (since 2.39). Only what goes on after that is killed.
 */
function stopper(git: GitProcess): () => void {
  let limit: NodeJS.Timeout | undefined
  let over = false
  void git.done.then(() => {
    over = true
    clearTimeout(limit)
  })
  return () => {
    if (over) return
    git.stdin.end()
    limit ??= setTimeout(git.kill, patience)
  }
}

async function settle(repository: string, push: Push, git: GitProcess, output: PassThrough): Promise<PushResult[]> {
  const holder = splitReport(push.capabilities.includes('side-band-64k'), part => {
    if (!output.destroyed) output.write(part)
  })
  const exit = await drain(git, holder)
  const results = await outcome(repository, push, exit, holder)
  if (push.commands.length > 0) await push.beforeReport(results)
  if (!output.destroyed) output.end(holder.held())
  return results
}

async function drain(git: GitProcess, holder: ReportHolder): Promise<Exit> {
  try {
    for await (const chunk of git.stdout as AsyncIterable<Buffer>) holder.take(chunk)
  } catch {
    git.kill() // the exit and the refs tell the rest
  }
  return await git.done
}

/** By git's report when there is a whole one; else the refs themselves say which commands were done. */
async function outcome(repository: string, push: Push, exit: Exit, holder: ReportHolder): Promise<PushResult[]> {
  const report = exit.code === 0 && !exit.ended ? parseReport(holder.report()) : null
  return await Promise.all(
    push.commands.map(async command => {
      const reported = report?.get(command.ref)
      if (reported !== undefined) return { ref: command.ref, ok: reported === null, reason: reported }
      const value = (await refValue(repository, command.ref)) ?? ZERO
      const ok = value === command.new
      return { ref: command.ref, ok, reason: ok ? null : 'the push was cut off' }
    })
  )
}

export type Refusal = {
  commands: PushCommand[]
  capabilities: string[]
  /** By ref; the others are refused because the push is refused as a whole. */
  reasons: Map<string, string>
  /** `rest` of readPushCommands: read to its end and thrown away, as a client hears nothing before it has sent all. */
  input?: Readable
}

/** The answer that a stock git shows as `! [remote rejected] branch (reason)`. */
export async function refusePush({ commands, capabilities, reasons, input }: Refusal): Promise<Buffer> {
  if (input) for await (const _ of input);
  if (!capabilities.some(name => name.startsWith('report-status'))) return flush
  const reason = (ref: string) => (reasons.get(ref) ?? 'another change of this push is refused').replace(/\s+/g, ' ')
  const lines = commands.map(({ ref }) => pktLine(`ng ${ref} ${reason(ref).slice(0, 500)}\n`))
  const report = Buffer.concat([pktLine('unpack ok\n'), ...lines, flush])
  return capabilities.includes('side-band-64k') ? Buffer.concat([sideband(1, report), flush]) : report
}

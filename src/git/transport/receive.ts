// Handles pushes. It first reads the requested changes, so that policies can be checked. It holds back git's report
// until the effects are recorded.
import { PassThrough, Readable } from 'node:stream'
import { TooLarge, Unavailable } from '../../errors.js'
import { limitReached, pushProcessorLimit } from '../process/limits.js'
import type { Exit, GitProcess } from '../process/run.js'
import { refValue, ZERO } from '../refs/refs.js'
import { NO_REWRITE, REWRITE_ADVICE, REWRITE_REASONS } from './fast-forward-only.js'
import type { FirstPush } from './first-push.js'
import { BadProtocol, FLUSH, type Packet, pktLine, sideband, takePackets } from './pkt-line.js'
import { guardPush } from './push-guard.js'
import { type PackOfPush, type Receiver, startReceiver } from './receive-process.js'
import { parseReport, type ReportHolder, splitReport } from './report.js'
import { receiveSmall } from './small/receive.js'

export interface PushCommand {
  readonly old: string
  readonly new: string
  readonly ref: string
  /** The bytes of a name that is not UTF-8. Such a change is refused, with the name that the client sent. */
  readonly bytes?: Buffer
}

export interface PushRequest {
  /** Empty for the probe that a client sends before a large push. */
  readonly commands: readonly PushCommand[]
  readonly capabilities: readonly string[]
  /** The commits where the history of a shallow client begins. */
  readonly shallow: readonly string[]
  /** The options of `git push -o`; null when they are more than allowed. */
  readonly options: readonly string[] | null
  /** Where the pack begins in `rest`. */
  readonly packAt: number
  /** The whole request from its beginning, with the commands. A request that is too large fails with TooLarge at its end. */
  readonly rest: Readable
}

export interface PushResult {
  readonly ref: string
  readonly ok: boolean
  /** Git's reason for the failure. */
  readonly reason: string | null
}

const COMMAND_LIMIT = 10_000
export const HEAD_LIMIT = 8 * 1024 * 1024

const MOST_OPTIONS = 50
const MOST_OPTION_BYTES = 8192
export const TOO_MANY_OPTIONS = `one push may have at most ${MOST_OPTIONS} options, in ${MOST_OPTION_BYTES} bytes`

export const tooManyChanges = () =>
  new TooLarge('One push may change at most 10,000 refs, named in at most 8 MiB: push fewer at a time')

/**
 * Reads the commands and the options at the beginning of a push (the decompressed body of POST git-receive-pack). Throws
 * BadProtocol, and TooLarge when the push has more than 10,000 commands.
 */
export async function readPushCommands(input: Readable): Promise<PushRequest> {
  const chunks = input[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const seen: Buffer[] = []
  let lines: Packet[] = []
  let found: ReturnType<typeof parseCommands> | undefined
  let size = 0
  for (let left: Buffer = Buffer.alloc(0); ; ) {
    const { done, value } = await chunks.next()
    if (done) throw new BadProtocol('the push is incomplete')
    seen.push(value)
    size += value.length
    if (size > HEAD_LIMIT + value.length) throw tooManyChanges()
    left = Buffer.concat([left, value])
    // Takes one packet at a time, because the pack begins after the flush.
    for (let taken = takePackets(left, 1); ; taken = takePackets(left, 1)) {
      const [packet] = taken.packets
      if (!packet) break
      left = taken.rest
      if (packet.content !== null) {
        lines.push(packet)
        if (lines.length > COMMAND_LIMIT) throw tooManyChanges()
        continue
      }
      if (!found && hasPushOptions(lines)) {
        found = parseCommands(lines)
        lines = []
        continue
      }
      const packAt = size - left.length
      const rest = replay(seen, chunks, packAt)
      const options = found ? parseOptions(lines) : []
      return { ...(found ?? parseCommands(lines)), options, packAt, rest }
    }
  }
}

function replay(seen: Buffer[], chunks: AsyncIterator<Buffer>, packAt: number): Readable {
  async function* all() {
    yield* seen
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
  }
  return Readable.from(guardPush(all(), packAt), { objectMode: false })
}

/** Returns whether a list of options follows the commands of a push. */
export const hasPushOptions = (commands: readonly Packet[]): boolean =>
  commands.some(({ content }) => / push-options(?= |\n|$)/.test(content?.toString('latin1').split('\0')[1] ?? ''))

function parseOptions(lines: readonly Packet[]): string[] | null {
  const size = lines.reduce((bytes, { content }) => bytes + (content?.length ?? 0), 0)
  if (lines.length > MOST_OPTIONS || size > MOST_OPTION_BYTES) return null
  return lines.map(({ content }) => String(content).replace(/\n$/, ''))
}

function parseCommands(lines: Packet[]): Omit<PushRequest, 'rest' | 'options' | 'packAt'> {
  const commands: PushCommand[] = []
  const shallow: string[] = []
  let capabilities: string[] = []
  for (const { content } of lines) {
    const [line = '', offered] = (content ?? '').toString().replace(/\n$/, '').split('\0')
    if (line.startsWith('shallow ')) {
      shallow.push(line.slice('shallow '.length))
      continue
    }
    const [, old, wanted, ref] = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\n]+)$/.exec(line) ?? []
    if (!old || !wanted || !ref) throw new BadProtocol('not a change of a ref')
    if (offered !== undefined && commands.length === 0) capabilities = offered.split(' ').filter(Boolean)
    const bytes = ref.includes('\ufffd') && content ? nameIn(content) : undefined
    commands.push({ old, new: wanted, ref, ...(bytes && { bytes }) })
  }
  return { commands, capabilities, shallow }
}

/** Returns the bytes of the ref name in the line of a change: from after the two ids up to the capabilities. */
function nameIn(line: Buffer): Buffer {
  const end = line.findIndex(byte => byte === 0 || byte === 10)
  return line.subarray(82, end === -1 ? line.length : end)
}

export interface Push {
  readonly commands: readonly PushCommand[]
  readonly capabilities: readonly string[]
  /** The `rest` of readPushCommands. */
  readonly input: () => Readable
  /** The size of the input in bytes, when it is known: a small push gets less processor time. */
  readonly size?: number
  /** The whole input, when it is in memory: then the push may need no git process. */
  readonly small?: { readonly body: Buffer; readonly packAt: number }
  /** Set for a push that may be a first one. */
  readonly pack?: PackOfPush
  /** Branches that git must not rewrite. */
  readonly kept?: readonly string[]
  /** A git process that has already begun with this push. It does not read `input`. */
  readonly begun?: Receiver | null
  /**
   * Called once after git has ended, for any reason and even when the client has disconnected. It gets the actual
   * outcome for each ref. The client gets the report after this promise has resolved, and no report when it rejects.
   * The returned lines are shown to the user.
   */
  readonly beforeReport: (results: PushResult[]) => Promise<readonly string[]>
  /** The client that git works for, a user or an address: the clients share the slots. */
  readonly client?: string
  readonly signal?: AbortSignal
}

export interface Receiving {
  /** The answer to the client. Git ends when this stream is destroyed or when the input is cut off. */
  readonly output: Readable
  /** The results, after beforeReport. Rejects when beforeReport rejects or when the refs cannot be read. */
  readonly done: Promise<PushResult[]>
}

/**
 * Passes a push to git. The client gets git's progress immediately, but the report waits. The slot of the process is free again
 * before `beforeReport` runs, so that `beforeReport` may use git. Throws Unavailable when too many callers wait.
 */
export async function receivePack(repository: string, push: Push): Promise<Receiving> {
  const output = new PassThrough({ highWaterMark: 256 * 1024 })
  output.on('error', () => {}) // the reader gets the error, but there may be no reader left
  try {
    if (!push.begun && push.small && (await receiveSmall(repository, { ...push, ...push.small }))) {
      const results = push.commands.map(({ ref }) => ({ ref, ok: true, reason: null }))
      return answering(output, report(push, output, { results, text: () => reportOf({ ...push, results }) }))
    }
  } catch (error) {
    // It is unknown which refs have moved: the push may not be passed to git.
    return answering(output, Promise.reject(error))
  }
  const receiver = push.begun ?? (await startReceiver(repository, push.input, push))
  output.once('close', receiver.stop)
  if (!receiver.first) return answering(output, settle(repository, push, receiver, output))
  // It holds the input for git, in case that it has to begin again.
  return answering(
    output,
    settleFirst(repository, { ...push, input: once(push.input()) }, { ...receiver, first: receiver.first }, output)
  )
}

const once = (input: Readable) => () => input

/** Milliseconds after which an empty packet keeps the connection alive, as git does it. */
const KEEP_ALIVE = 5000
const EMPTY = pktLine(Buffer.from([1]))

/** Ends a first push whose pack git has checked, or lets git receive it again. */
async function settleFirst(
  repository: string,
  push: Push,
  receiver: Receiver & { readonly first: FirstPush },
  output: PassThrough
): Promise<PushResult[]> {
  const write = (packet: Buffer) => void (output.destroyed || output.write(packet))
  const clock = setInterval(() => write(EMPTY), KEEP_ALIVE)
  receiver.git.onStderr(text => {
    // Git reports everything else again.
    if (/^Resolving deltas: /.test(text.toString('latin1'))) write(sideband(2, text))
  })
  let said = ''
  const exit = await drain(receiver.git, chunk => {
    said += chunk.toString('latin1')
  })
  clearInterval(clock)
  const isDone = await receiver.first.conclude(exit, said).catch(error => {
    push.input().destroy()
    throw error
  })
  if (isDone) {
    push.input().destroy()
    const results = push.commands.map(({ ref }) => ({ ref, ok: true, reason: null }))
    return await report(push, output, { results, text: () => reportOf({ ...push, results }) })
  }
  const again = await startReceiver(repository, push.input, { ...push, pack: undefined }).catch(error => {
    push.input().destroy()
    return refusalOf(error)
  })
  if (typeof again === 'string') {
    const results = push.commands.map(({ ref }) => ({ ref, ok: false, reason: again }))
    return await report(push, output, { results, text: () => reportOf({ ...push, results }) })
  }
  if (output.destroyed) again.stop()
  else output.once('close', again.stop)
  return await settle(repository, push, again, output)
}

/** Returns the reason for the client when git cannot start now: its answer has begun, so it gets no status. */
function refusalOf(error: unknown): string {
  if (error instanceof Unavailable) return error.message
  throw error
}

function answering(output: PassThrough, done: Promise<PushResult[]>): Receiving {
  done.catch(error => output.destroy(error instanceof Error ? error : new Error(String(error))))
  return { output, done }
}

async function settle(
  repository: string,
  push: Push,
  { git, reason: ownReason }: Receiver,
  output: PassThrough
): Promise<PushResult[]> {
  let said = ''
  const holder = splitReport(push.capabilities.includes('side-band-64k'), part => {
    said = (said + part.toString('latin1', 5)).slice(-4096)
    if (!output.destroyed) output.write(forUser(part, repository))
  })
  const exit = await drain(git, holder.take)
  const results = await outcome(repository, push, exit, holder)
  const isRewrite = results.some(({ reason }) => reason === NO_REWRITE)
  const processor = push.size === undefined ? undefined : pushProcessorLimit(push.size)
  const reason = ownReason() ?? limitReached(exit.signal, said + git.stderr(), 'work', processor)
  const refused = reason !== undefined && results.every(({ ok }) => !ok)
  const told = refused ? results.map(result => ({ ...result, reason })) : results
  const text = () => (refused || isRewrite ? reportOf({ ...push, results: told }) : holder.held())
  return await report(push, output, { results: told, text })
}

/** Records the effects, and then writes the report. */
async function report(
  push: Push,
  output: PassThrough,
  { results, text }: { readonly results: PushResult[]; readonly text: () => Buffer }
): Promise<PushResult[]> {
  const lines = push.commands.length > 0 ? await push.beforeReport(results) : []
  if (lines.length > 0 && showsMessages(push.capabilities) && !output.destroyed) {
    output.write(sideband(2, Buffer.from(`${lines.join('\n')}\n`)))
  }
  if (!output.destroyed) output.end(text())
  return results
}

/**
 * Returns true when the user of a client sees messages in addition to the report. Clients without a terminal request a
 * quiet git, but they still show messages, as git then shows those of hooks.
 */
export const showsMessages = (capabilities: readonly string[]): boolean => capabilities.includes('side-band-64k')

/** Removes from a line that git prints the path of the repository, which users should not see, and wrong advice. */
function forUser(line: Buffer, repository: string): Buffer {
  if (!line.includes(repository) && !line.includes('denying non-fast-forward')) return line
  const band = line[4] === 3 ? 3 : 2
  const text = line.subarray(5).toString('latin1').replace(REWRITE_ADVICE, NO_REWRITE)
  return sideband(band, Buffer.from(text.replaceAll(`${repository}/./`, '').replaceAll(repository, '.'), 'latin1'))
}

async function drain(git: GitProcess, take: (chunk: Buffer) => void): Promise<Exit> {
  try {
    for await (const chunk of git.stdout as AsyncIterable<Buffer>) take(chunk)
  } catch {
    git.kill() // the exit code and the refs show what happened
  }
  return await git.done
}

/**
 * Reads the outcome from git's report when the report is complete. Otherwise it reads the refs to find out which
 * commands git has executed.
 */
async function outcome(repository: string, push: Push, exit: Exit, holder: ReportHolder): Promise<PushResult[]> {
  const report = exit.code === 0 && !exit.ended ? parseReport(holder.report()) : null
  return await Promise.all(
    push.commands.map(async command => {
      const reported = report?.get(command.ref)
      if (reported !== undefined) {
        const isRewrite = REWRITE_REASONS.has(reported) && push.kept?.includes(command.ref)
        return { ref: command.ref, ok: reported === null, reason: isRewrite ? NO_REWRITE : reported }
      }
      const value = (await refValue(repository, command.ref)) ?? ZERO
      const ok = value === command.new
      return { ref: command.ref, ok, reason: ok ? null : 'the push was interrupted' }
    })
  )
}

export interface Refusal {
  readonly commands: readonly PushCommand[]
  readonly capabilities: readonly string[]
  /** The reason by ref. Refs without a reason are refused because the whole push is refused. */
  readonly reasons: Map<string, string>
  /** The `rest` of readPushCommands. It is read to its end and dropped, because a client reads no answer before it has sent everything. */
  readonly input?: Readable
}

/** Returns the answer that a standard git client shows as `! [remote rejected] branch (reason)`. */
export async function refusePush({ input, ...refusal }: Refusal): Promise<Buffer> {
  if (input) await readAway(input)
  const { commands, capabilities, reasons } = refusal
  const reasonOf = (ref: string) => reasons.get(ref) ?? 'another change in this push was refused'
  const results = commands.map(({ ref }) => ({ ref, ok: false, reason: reasonOf(ref) }))
  return reportOf({ commands, capabilities, results })
}

async function readAway(input: Readable): Promise<void> {
  try {
    for await (const _ of input);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error // a push that is also too large is refused already
  }
}

interface Report {
  readonly commands: readonly PushCommand[]
  readonly capabilities: readonly string[]
  readonly results: readonly PushResult[]
}

function reportOf({ commands, capabilities, results }: Report): Buffer {
  if (!capabilities.some(name => name.startsWith('report-status'))) return FLUSH
  const reasons = new Map(results.map(({ ref, ok, reason }) => [ref, ok ? null : (reason ?? '')]))
  const lines = commands.map(({ ref, bytes = Buffer.from(ref) }) => {
    const reason = reasons.get(ref)?.replace(/\s+/g, ' ').slice(0, 500)
    const [word, end] = reason === undefined ? ['ok', ''] : ['ng', ` ${reason}`]
    return pktLine(Buffer.concat([Buffer.from(`${word} `), bytes, Buffer.from(`${end}\n`)]))
  })
  const report = Buffer.concat([pktLine('unpack ok\n'), ...lines, FLUSH])
  return capabilities.includes('side-band-64k') ? Buffer.concat([sideband(1, report), FLUSH]) : report
}

// Git's smart protocol over HTTP, but without the HTTP part: streams in, streams out. Pushes are in receive.ts.
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { identityOfPacks } from '../objects/pack-identity.js'
import {
  failure,
  feed,
  type GitFailure,
  GitLimit,
  type GitProcess,
  outputOf,
  runGit,
  type StartOptions,
  startGit
} from '../process/run.js'
import { listEveryRef } from '../refs/list.js'
import { capabilitiesIn, fetchAdvertisement, lsRefsAnswer, parseLsRefs, pushAdvertisement } from './advertisement.js'
import { mostShared, shareAnswer } from './clone-answers.js'
import { withoutRepetitions } from './fetch-request.js'
import { BadProtocol, FLUSH, isFramed, pktLine } from './pkt-line.js'
import { Spool } from './spool.js'

export type Service = 'git-upload-pack' | 'git-receive-pack'

/** The common options of the work for one git client. */
export interface Caller {
  /** The Git-Protocol header. */
  readonly protocol?: string
  /** The client that git works for, a user or an address: the clients share the slots. */
  readonly client?: string
  readonly signal?: AbortSignal
}

/** Clients may request any object by its id, as version 2 allows. Partial clones with version 0 and 1 need this. */
export const UPLOAD_SETTINGS = ['-c', 'uploadpack.allowAnySHA1InWant=true']

/** Returns the environment for the protocol that a client requests. It passes on only the version. */
export function protocolEnvironment(protocol: string | undefined): Record<string, string> {
  const version = versionIn(protocol)
  return version === undefined ? {} : { GIT_PROTOCOL: version }
}

const versionIn = (protocol: string | undefined) => /(?:^|:)(version=[012])(?:$|:)/.exec(protocol ?? '')?.[1]

/** A stream, or the only piece of a short answer: a stream takes longer than making one. */
export type Output = Readable | readonly [Buffer]

/** Returns the body of GET info/refs: the refs and capabilities of a service. Throws Unavailable when too many callers wait. */
export function advertise(repository: string, service: Service, caller: Caller = {}): Promise<Output> {
  // Version 2 has no such line. Git's own http-backend omits it as well.
  const isBare = service === 'git-upload-pack' && versionIn(caller.protocol) === 'version=2'
  const first = isBare ? [] : [Buffer.concat([pktLine(`# service=${service}\n`), FLUSH])]
  return advertiseRefs(repository, service, caller, first)
}

/** Returns the refs and capabilities of a service, after `first`. Throws Unavailable when too many callers wait. */
export async function advertiseRefs(
  repository: string,
  service: Service,
  caller: Caller,
  first: readonly Buffer[] = []
): Promise<Output> {
  const version = service === 'git-upload-pack' ? versionIn(caller.protocol) : undefined
  const fast = await advertiseFromRefs(repository, service, version)
  if (fast) return outputIn(chain(first, fast))
  const args = advertisingArgs(repository, service)
  const git = await startGit(args, { ...caller, repository, environment: protocolEnvironment(version), long: true })
  git.stdin.end()
  const output = outputOf(args, git)
  const stream = new PassThrough()
  for (const line of first) stream.write(line)
  output.once('error', error => stream.destroy(error))
  stream.on('error', () => {})
  stream.once('close', () => output.destroy())
  return output.pipe(stream)
}

/** The bytes of an answer that is sent at once. Of larger pieces, nobody could see how much a slow client has taken. */
const SHORT = 64 * 1024

function outputIn(pieces: Iterable<Buffer>): Output {
  const iterator = pieces[Symbol.iterator]()
  const first: Buffer[] = []
  for (let size = 0; size < SHORT; ) {
    const { done, value } = iterator.next()
    if (done) return [Buffer.concat(first)]
    first.push(value)
    size += value.length
  }
  return Readable.from(chain(first, { [Symbol.iterator]: () => iterator }), { objectMode: false })
}

function* chain<T>(...lists: Iterable<T>[]): Generator<T> {
  for (const list of lists) yield* list
}

const advertisingArgs = (repository: string, service: Service) => [
  ...(service === 'git-upload-pack' ? UPLOAD_SETTINGS : []),
  service.slice('git-'.length),
  '--stateless-rpc',
  '--advertise-refs',
  repository
]

/** Returns null when git must write the advertisement itself. */
async function advertiseFromRefs(
  repository: string,
  service: Service,
  version: string | undefined
): Promise<Iterable<Buffer> | null> {
  if (version === 'version=2') {
    // The advertisement contains no refs, so it is the same for every repository.
    const whole = await learn(repository, service, version, output => output)
    return whole && [whole]
  }
  const list = await listEveryRef(repository)
  if (!list) return null
  if (service === 'git-upload-pack' && list.refs.length === 0 && !list.head.ref) {
    return version === 'version=1' ? [pktLine('version 1\n'), FLUSH] : [FLUSH]
  }
  const capabilities = await learn(repository, service, version ?? 'version=0', capabilitiesIn)
  if (capabilities === null) return null
  if (service === 'git-receive-pack') return pushAdvertisement(list, capabilities)
  return fetchAdvertisement(list, version === 'version=1' ? 1 : 0, capabilities)
}

const learned = new Map<string, Promise<Buffer | string | null>>()

/** Asks git for its capabilities once in the life of this process: they depend on the installed git. */
function learn<T extends Buffer | string>(
  repository: string,
  service: Service,
  version: string,
  take: (output: Buffer) => T | null
): Promise<T | null> {
  const key = `${service} ${version}`
  const already = learned.get(key)
  if (already) return already as Promise<T | null>
  const environment = protocolEnvironment(version)
  const found = runGit(advertisingArgs(repository, service), { repository, environment }).then(take)
  learned.set(key, found)
  const forget = () => learned.delete(key)
  found.then(value => value === null && forget(), forget)
  return found
}

/** The bytes of an answer that stay in memory while its client is slow. */
const ANSWER_MEMORY = 512 * 1024
/** The bytes of a large answer that stay in memory. */
const LARGE_ANSWER_MEMORY = 512 * 1024

/**
 * Answers a fetch. `input` is the whole request, decompressed; the result is the body of the answer. Git works at its
 * own speed, however slowly the client reads. The process ends when nobody reads the answer. When git refuses the
 * fetch, the answer contains the reason. Throws BadProtocol when git cannot understand the request.
 */
export async function uploadPack(repository: string, input: Spool, caller: Caller = {}): Promise<Output> {
  const request = input.small()
  if (request && !isFramed(request)) throw new BadProtocol('the request is not in the git protocol')
  if (input.size === 0) throw new BadProtocol('the request is empty')
  const version = versionIn(caller.protocol)
  const asked = request && version === 'version=2' ? parseLsRefs(request) : null
  const isShared = request !== null && isFreshClone(request)
  const list = asked || isShared ? await listEveryRef(repository) : null
  if (asked && list) return outputIn(lsRefsAnswer(list, asked))
  // A shared answer continues after the client that requested it first has left.
  const share = () => startAnswer(repository, input, { ...caller, signal: undefined }, true)
  const { answer, stream } =
    isShared && list
      ? await shareAnswer({ repository, version, refs: list.refs, request, packs: identityOfPacks(repository) }, share)
      : await startOwn(repository, input, caller)
  try {
    await answer.begun()
  } catch (error) {
    stream.destroy()
    throw error
  }
  const whole = answer.size <= SHORT && answer.isWhole() && answer.isComplete() ? answer.small() : null
  if (!whole) return stream
  stream.destroy()
  return [whole]
}

/** Returns whether a request is a fresh clone: clients that have no commits yet all get the same answer. */
function isFreshClone(request: Buffer): boolean {
  const text = request.toString('latin1')
  const end = text.includes('command=fetch') ? '0009done\n0000' : '0009done\n'
  return text.includes('want ') && text.endsWith(end) && !/[0-9a-f]{4}(?:have|shallow) /.test(text)
}

async function startOwn(repository: string, input: Spool, caller: Caller) {
  const answer = await startAnswer(repository, input, caller, false)
  return { answer, stream: answer.read() }
}

async function startAnswer(repository: string, input: Spool, caller: Caller, keep: boolean): Promise<Spool> {
  const args = [...UPLOAD_SETTINGS, 'upload-pack', '--strict', '--stateless-rpc', repository]
  const environment = protocolEnvironment(caller.protocol)
  const options: StartOptions = { repository, environment, long: true, client: caller.client, signal: caller.signal }
  const git = await startGit(args, options)
  const answer = new Spool({ memory: ANSWER_MEMORY, largeMemory: LARGE_ANSWER_MEMORY, keep, mostKept: mostShared() })
  answer.onUnused(git.kill)
  void feed(withoutRepetitions(input.small() ?? (await buffer(input.read()))), git)
  void pump(args, git, answer)
  return answer
}

async function pump(args: string[], git: GitProcess, answer: Spool): Promise<void> {
  try {
    for await (const chunk of git.stdout as AsyncIterable<Buffer>) await answer.write(chunk)
    const exit = await git.done
    const error = exit.code === 0 && !exit.ended ? undefined : failure(args, exit, git.stderr())
    // The cause of the failure may not affect the next client. Before the end: a whole answer is then kept.
    if (error) answer.release()
    if (error instanceof GitLimit && answer.size === 0) {
      // Git shows this line to the user.
      await answer.write(pktLine(`ERR ${error.message}\n`))
      answer.end()
    } else if (error && (exit.ended || exit.code === null)) answer.fail(error)
    else if (error && answer.size === 0) answer.fail(refusal(error))
    else answer.end()
  } catch (error) {
    git.kill()
    answer.fail(error instanceof Error ? error : new Error(String(error)))
  }
}

/** Distinguishes a request that git does not understand from a repository that git cannot read. */
function refusal(error: GitFailure): Error {
  const [, reason] =
    /^fatal: ((?:protocol error|git upload-pack: |unexpected|unknown|expected|invalid|the remote end).*)$/m.exec(
      error.stderr
    ) ?? []
  return reason ? new BadProtocol(reason.replace('git upload-pack: ', '')) : error
}

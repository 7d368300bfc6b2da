// Answers a fetch over a bidirectional connection, such as SSH. In version 2 every request contains everything that git
// must know, so each request is answered as over HTTP: by a process that ends with its answer, or without a process. In
// older versions git and the client negotiate each commit, so one process runs until the end.
import type { Writable } from 'node:stream'
import { TooLarge } from '../../errors.js'
import { drained } from '../../lib/drained.js'
import { failure, GitLimit, type GitProcess, startGit } from '../process/run.js'
import { FlushFinder, type PacketSource, packetSource, upToFlush } from './packet-lists.js'
import { BadProtocol } from './pkt-line.js'
import { spoolRequest } from './request-spool.js'
import { Spool } from './spool.js'
import { advertiseRefs, type Caller, protocolEnvironment, UPLOAD_SETTINGS, uploadPack } from './transport.js'

export interface Conversation {
  readonly input: AsyncIterable<Buffer>
  /** Resolves when more may be sent to the client. */
  readonly write: (chunk: Buffer) => Promise<void>
  /** The maximum size of a request in bytes, and the message for a larger request. */
  readonly most: number
  readonly excess: string
}

/** Talks to a client until it has everything that it requests. Throws BadProtocol, TooLarge, GitFailure, Unavailable. */
export async function converse(repository: string, talk: Conversation, caller: Caller): Promise<void> {
  for await (const chunk of await advertiseRefs(repository, 'git-upload-pack', caller)) await talk.write(chunk)
  const source = packetSource(talk.input)
  const isVersion2 = protocolEnvironment(caller.protocol).GIT_PROTOCOL === 'version=2'
  await (isVersion2 ? answerRequests : talkWithGit)(repository, talk, caller, source)
}

async function answerRequests(repository: string, talk: Conversation, caller: Caller, source: PacketSource) {
  for (;;) {
    const request = await spoolRequest(upToFlush(source), talk.most, talk.excess)
    try {
      // The end of the input, or only a flush: the client wants nothing more.
      if (request.size === 0 || request.small()?.toString('latin1') === '0000') return
      for await (const chunk of await uploadPack(repository, request, caller)) await talk.write(chunk)
    } finally {
      request.release()
    }
  }
}

/** The bytes of an answer that stay in memory while its client is slow. */
const MEMORY = 512 * 1024

async function talkWithGit(repository: string, talk: Conversation, caller: Caller, source: PacketSource) {
  // Most clients that read a list of refs send only a flush: no process starts for them.
  const first = await source.next()
  if (first === null || first.toString('latin1') === '0000') return
  source.giveBack(first)
  const args = [...UPLOAD_SETTINGS, 'upload-pack', '--strict', repository]
  const environment = protocolEnvironment(caller.protocol)
  const { client, signal } = caller
  const git = await startGit(args, { repository, environment, long: true, client, signal })
  const answer = new Spool({ memory: MEMORY, keep: false })
  answer.onUnused(git.kill)
  const reading = answer.read()
  const collected = collect(git, answer)
  let wrong: unknown
  // The input may stay open after the end: nobody waits for it.
  feedAll(source, talk, git.stdin).catch(error => {
    wrong = error
    git.kill()
  })
  try {
    for await (const chunk of reading) await talk.write(chunk)
    await collected
  } catch (error) {
    git.kill()
    throw error
  } finally {
    reading.destroy()
  }
  const exit = await git.done
  if (wrong !== undefined) throw wrong
  if (exit.code === 0 && !exit.ended) return
  const error = failure(args, exit, git.stderr())
  if (error instanceof GitLimit) throw error
  const [, reason] = /^fatal: (.*)$/m.exec(git.stderr()) ?? []
  throw reason === undefined ? error : new BadProtocol(reason)
}

/** Forwards the output of git, except the list of refs, which git sends again although the client has it. */
async function collect(git: GitProcess, answer: Spool): Promise<void> {
  const finder = new FlushFinder()
  let isListOver = false
  try {
    for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
      const end = isListOver ? 0 : finder.take(chunk)
      if (end === undefined) continue
      isListOver = true
      if (end < chunk.length) await answer.write(chunk.subarray(end))
    }
    // When the last reader of the answer leaves, git is ended.
    await git.done
    answer.end()
  } catch (error) {
    answer.fail(error instanceof Error ? error : new Error(String(error)))
  }
}

async function feedAll(source: PacketSource, { most, excess }: Conversation, stdin: Writable): Promise<void> {
  let size = 0
  for (;;) {
    const chunk = await source.next()
    if (chunk === null) {
      stdin.end()
      return
    }
    size += chunk.length
    if (size > most) throw new TooLarge(excess)
    if (!stdin.writable) return
    // When git has ended, its exit says why.
    if (!stdin.write(chunk)) await drained(stdin).catch(() => undefined)
  }
}

// Calls the HTTP API of a container engine: Docker, or Podman's service with the same API. Written here, because the library
// dockerode brings gRPC, protobuf and a tar library for a dozen calls that node:http can make as well.
import { readFileSync } from 'node:fs'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { type RequestOptions, request as secureRequest } from 'node:https'
import type { Socket } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { config } from '../../config.js'
import { Failure, Misconfigured, Unavailable } from '../../errors.js'
import { request as plainRequest } from '../../lib/node-http.js'

/** The engine does not answer, or its connection broke. */
class EngineAway extends Unavailable {
  constructor(why: string) {
    super(`the container engine at ${config().runner.docker.socket} does not answer (${why})`)
  }
}

/** The engine refused a request. */
export class EngineRefused extends Failure {
  constructor(
    readonly status: number,
    text: string
  ) {
    super(`the container engine: ${text}`)
  }
}

export interface Question {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly json?: unknown
  /** A tar archive, as the body of the request. */
  readonly tar?: Readable
  readonly signal?: AbortSignal | undefined
  /** True: the engine may be silent for any time, until `signal` aborts. */
  readonly patient?: boolean
}

/** The most bytes of one answer: a list of all containers of a busy engine has fewer. */
const LONGEST_ANSWER = 16_777_216
const LONGEST_ERROR = 65_536
/** The most characters of an engine's text that people see. */
const LONGEST_TEXT = 500

/** Requests a record. Throws EngineAway, EngineRefused, and the reason of `signal`. */
export async function ask<T>(question: Question): Promise<T> {
  const text = await textOf(question, await send(question), LONGEST_ANSWER)
  // Some answers have no body.
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/** The same for a record that may not exist: then it returns undefined. */
export async function askIfThere<T>(question: Question): Promise<T | undefined> {
  try {
    return await ask<T>(question)
  } catch (error) {
    if (error instanceof EngineRefused && error.status === 404) return undefined
    throw error
  }
}

/** Requests a stream. The caller must read it to its end, or destroy it. */
export async function send(question: Question): Promise<IncomingMessage> {
  const answer = await answerTo<IncomingMessage>(question, (request, resolve) => request.once('response', resolve))
  if ((answer.statusCode ?? 500) < 400) return answer
  const text = await textOf(question, answer, LONGEST_ERROR)
  throw new EngineRefused(answer.statusCode ?? 500, messageIn(text) || `it answered ${answer.statusCode}`)
}

/** Takes over the connection: it carries the output of a container in frames (frames.ts). */
export async function connect(question: Question): Promise<Socket> {
  return answerTo<Socket>({ ...question, patient: true }, (request, resolve, reject) => {
    request.once('upgrade', (_, socket: Socket, head) => {
      if (head.length > 0) socket.unshift(head)
      resolve(socket)
    })
    request.once('response', answer => {
      const refused = (text: string) =>
        new EngineRefused(answer.statusCode ?? 500, messageIn(text) || 'it does not hand over a connection')
      textOf(question, answer, LONGEST_ERROR).then(text => reject(refused(text)), reject)
    })
  })
}

type Settle<T> = (request: ClientRequest, resolve: (value: T) => void, reject: (error: unknown) => void) => void

function answerTo<T>(question: Question, settle: Settle<T>): Promise<T> {
  const { json, tar, signal, patient } = question
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    const request = requestOf(question)
    request.on('error', error => reject(failureOf(error, signal)))
    const limit = config().runner.docker.timeout
    // This counts the time without a byte in either direction.
    if (!patient) request.setTimeout(limit * 1000, () => request.destroy(new EngineAway(`nothing for ${limit} s`)))
    settle(request, resolve, reject)
    if (tar) pipeline(tar, request, error => error && reject(failureOf(error, signal)))
    else request.end(json === undefined ? undefined : JSON.stringify(json))
  })
}

function requestOf({ method, path, query, json, tar, signal }: Question): ClientRequest {
  const search = query ? `?${new URLSearchParams(query)}` : ''
  const type = tar ? 'application/x-tar' : 'application/json'
  const options: RequestOptions = {
    ...address(),
    method,
    path: path + search,
    // Each request has a separate connection: one that is taken over, or breaks, affects no other request.
    agent: false,
    headers: {
      ...((json !== undefined || tar) && { 'content-type': type }),
      ...(path.endsWith('/attach') && { connection: 'Upgrade', upgrade: 'tcp' })
    },
    ...(signal && { signal })
  }
  return options.socketPath ? plainRequest(options) : secureRequest(options)
}

/** The address of the engine. Throws Misconfigured when a file of the certificates cannot be read. */
export function address(): RequestOptions {
  const { socket, tls } = config().runner.docker
  if (socket.startsWith('unix://')) return { socketPath: socket.slice('unix://'.length), host: 'engine' }
  const { hostname, port } = new URL(socket)
  const file = (key: 'ca' | 'cert' | 'key') => {
    try {
      return readFileSync(tls[key] ?? '')
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new Misconfigured(`runner.docker.tls.${key}: ${tls[key]} cannot be read (${code})`)
    }
  }
  const host = hostname.replace(/^\[|\]$/g, '')
  return { host, port: Number(port), ca: file('ca'), cert: file('cert'), key: file('key') }
}

async function textOf({ signal }: Question, answer: IncomingMessage, most: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > most) throw new EngineRefused(500, `its answer has more than ${most} bytes`)
      chunks.push(chunk)
    }
  } catch (error) {
    throw failureOf(error, signal)
  }
  return Buffer.concat(chunks).toString('utf8').trim()
}

function failureOf(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof Failure) return error
  const { code, message } = error as NodeJS.ErrnoException
  return new EngineAway(code ?? message)
}

function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text)
    return oneLine(String(message ?? ''))
  } catch {
    return oneLine(text)
  }
}

/** Shortens a text of the engine to one line for people. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_TEXT)

// Git's smart protocol over HTTP, but without the HTTP part: streams in, streams out. Pushes are in receive.ts.
import { PassThrough, type Readable } from 'node:stream'
import { config } from '../config.js'
import { readFetchRequest } from './fetch-request.js'
import { FLUSH, pktLine } from './pkt-line.js'
import { feed, outputOf, startGit } from './run.js'

export type Service = 'git-upload-pack' | 'git-receive-pack'

/** Returns the environment for the protocol that a client asks for. It passes on nothing but the version. */
export function protocolEnvironment(protocol: string | undefined): Record<string, string> {
  const version = /(?:^|:)(version=[012])(?:$|:)/.exec(protocol ?? '')?.[1]
  return version === undefined ? {} : { GIT_PROTOCOL: version }
}

/**
 * Returns the body of GET info/refs: the refs and capabilities of a service. The caller must read it to its end or
 * destroy it, which ends the process. Throws Unavailable when too many callers wait.
 */
export async function advertise(repository: string, service: Service, protocol?: string): Promise<Readable> {
  const args = [service.slice('git-'.length), '--stateless-rpc', '--advertise-refs', repository]
  const environment = service === 'git-upload-pack' ? protocolEnvironment(protocol) : {}
  const git = await startGit(args, { repository, environment, long: true })
  git.stdin.end()
  const output = outputOf(args, git)
  // Version 2 has no such line. Git's own http-backend does the same.
  if (environment.GIT_PROTOCOL === 'version=2') return output
  const stream = new PassThrough()
  stream.write(Buffer.concat([pktLine(`# service=${service}\n`), FLUSH]))
  output.once('error', error => stream.destroy(error))
  stream.on('error', () => {})
  stream.once('close', () => output.destroy())
  return output.pipe(stream)
}

export interface UploadRequest {
  readonly input: Readable
  readonly protocol?: string
  readonly signal?: AbortSignal
}

/**
 * Answers a fetch. `input` is the decompressed body of POST git-upload-pack; the result is the body of the answer. The
 * process ends when the answer is destroyed or when the request is cut off. When git refuses the fetch, the answer
 * contains the reason. Throws TooLarge when `input` is longer than a fetch request may be.
 */
export async function uploadPack(repository: string, { input, protocol, signal }: UploadRequest): Promise<Readable> {
  const args = ['upload-pack', '--strict', '--stateless-rpc', repository]
  const request = await readFetchRequest(input, config().git.max_fetch_request)
  const git = await startGit(args, { repository, environment: protocolEnvironment(protocol), long: true, signal })
  void feed(request, git)
  return outputOf(args, git, limit => pktLine(`ERR ${limit}\n`))
}

// Fetches a repository at a URL through the gateway, with the limits of imports.
import { config } from '../../../config.js'
import { Failure } from '../../../errors.js'
import { GitFailure } from '../../../git/process/run.js'
import { type Fetched, fetchRemote } from '../../../git/repository/fetch.js'
import { measureObjects } from '../../../git/repository/repository.js'
import { isDiskFull } from '../../../lib/disk-full.js'
import { RefusedTarget } from '../../../webhooks/target.js'
import { ImportTooLarge, openGateway } from './egress-proxy.js'
import { SourceFailure, SourceRefusal } from './source-failures.js'
import { openTransport, readText } from './transport.js'

/** The repository cannot be filled, and another attempt would not help. The text is for the users of the project. */
export class CannotFill extends Failure {}

export interface RemoteRepository {
  /** Contains no user and no password. */
  readonly url: URL
  readonly username: string
  readonly password: string
  /** Refspecs in addition to the branches and tags. */
  readonly more: readonly string[]
}

/** Fetches into a repository. Throws CannotFill. */
export async function fetchFrom(from: RemoteRepository, path: string, signal: AbortSignal): Promise<Fetched> {
  const { max_size: maxBytes, timeout } = config().imports
  const { username, password } = from
  const ending = AbortSignal.any([signal, AbortSignal.timeout(timeout * 1000)])
  const gateway = await openGateway({ maxBytes, signal: ending })
  const url = new URL(from.url)
  const { host, hostname, port } = url
  try {
    if (url.protocol === 'git:') url.host = `127.0.0.1:${await gateway.forward(hostname, Number(port || 9418))}`
    const remote = { url: url.href, username, password, proxy: gateway.proxy, host, timeout, signal: ending }
    const fetched = await fetchRemote(remote, path, from.more)
    await requireFewObjects(path)
    if (fetched.branch === null && !(await isGit(from, ending))) throw new CannotFill('it does not answer as git does')
    return fetched
  } catch (error) {
    if (signal.aborted || isDiskFull(error) || error instanceof CannotFill) throw error
    if (ending.aborted) throw new CannotFill(`it took longer than ${timeout} s (imports.timeout)`)
    const problem = gateway.problem()
    if (problem) throw new CannotFill(textOf(problem))
    if (error instanceof GitFailure) throw new CannotFill(textOfGit(error, [password, gateway.proxy, username]))
    throw error
  } finally {
    await gateway.close()
  }
}

const ADVERTISEMENT = 'application/x-git-upload-pack-advertisement'
/** Bytes. */
const LONGEST_PAGE = 65_536

/**
 * Returns whether a server without branches has answered as git does. Git takes a page of one line for the list of an empty repository,
 * such as that of a proxy at which people sign in.
 */
async function isGit({ url, username, password }: RemoteRepository, signal: AbortSignal): Promise<boolean> {
  if (url.protocol === 'git:') return true
  const list = new URL(`${url.pathname.replace(/\/+$/, '')}/info/refs?service=git-upload-pack`, url)
  const secret = Buffer.from(`${username}:${password}`).toString('base64')
  const transport = openTransport(signal)
  try {
    return await transport.get(list, password === '' ? {} : { authorization: `Basic ${secret}` }, async answer => {
      const isList = answer.status !== 200 || answer.headers['content-type'] === ADVERTISEMENT
      return isList || (await readText(list, answer.stream, LONGEST_PAGE)).trim() === ''
    })
  } catch (error) {
    // Too many bytes for the list of an empty repository. After other failures, what git has read counts.
    if (error instanceof SourceFailure) return !(error instanceof SourceRefusal)
    throw error
  } finally {
    transport.close()
  }
}

/** A few bytes can unpack to millions of objects, which every later walk through the history would have to visit. */
async function requireFewObjects(path: string): Promise<void> {
  const { max_objects: most } = config().imports
  const { objects } = await measureObjects(path)
  if (objects > most) throw new CannotFill(`the repository has more than ${most} objects (imports.max_objects)`)
}

function textOf(problem: Error): string {
  if (problem instanceof RefusedTarget) {
    return `imports may not reach the address ${problem.address}: an administrator can list it in hooks.allow`
  }
  if (problem instanceof ImportTooLarge) return problem.message
  return `the server cannot be reached: ${problem.message.slice(0, 300)}`
}

/** The output of git, without the secrets that it received. */
function textOfGit({ stderr, message }: GitFailure, secrets: readonly string[]): string {
  const lines = stderr.split('\n').filter(line => /^(fatal|error|remote): /.test(line))
  let text = (lines.length > 0 ? lines.join('; ') : message).replace(/\p{Cc}+/gu, ' ')
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '[hidden]')
  return `git could not fetch it: ${text.slice(0, 500)}`
}

// Reads and changes an appliance on another machine through its API.
import { Conflict, Failure, Forbidden, Misconfigured, NotFound, Unavailable } from '../../errors.js'
import { notConnected, remoteBase, requireSendable } from '../appliance/remote-address.js'
import { oneByOne } from './one-by-one.js'
import type {
  FoundJobs,
  Job,
  JobOverview,
  JobQuestion,
  JobSource,
  WatchedBuild,
  WatchedBuildDetails
} from './source.js'

const TIMEOUT_MS = 10_000

export interface RemoteOptions {
  readonly url: string
  readonly token: string
}

/** Returns the source for one URL and token. Throws Misconfigured when the URL or the token cannot be valid. */
export function remoteSource({ url, token }: RemoteOptions): JobSource {
  const base = remoteBase(url)
  requireSendable(token)
  const ask = <T>(method: string, path: string) => request<T>({ base, token, method, path })
  const change = async (method: string, path: string) => void (await ask<unknown>(method, path))
  return {
    name: base,
    overview: async () => checked(await ask<JobOverview>('GET', 'overview'), base),
    jobs: question => ask<FoundJobs>('GET', `search?${queryOf(question)}`),
    job: id => ask<Job>('GET', `jobs/${id}`),
    builds: () => ask<WatchedBuild[]>('GET', 'builds'),
    build: id => ask<WatchedBuildDetails>('GET', `builds/${id}`),
    retry: ids => oneByOne(ids, id => change('POST', `jobs/${id}/retry`)),
    discard: ids => oneByOne(ids, id => change('DELETE', `jobs/${id}`)),
    cancelBuilds: ids => oneByOne(ids, id => change('POST', `builds/${id}/cancel`)),
    retryBuilds: ids => oneByOne(ids, id => change('POST', `builds/${id}/retry`)),
    pause: queue => change('POST', `queues/${encodeURIComponent(queue)}/pause`),
    resume: queue => change('POST', `queues/${encodeURIComponent(queue)}/resume`)
  }
}

function queryOf({ text, queue, oldest, past }: JobQuestion): URLSearchParams {
  const query = new URLSearchParams()
  if (text !== '') query.set('text', text)
  if (queue !== null) query.set('queue', queue)
  if (oldest) query.set('oldest', 'true')
  if (past !== null) query.set('past', String(past))
  return query
}

interface Question {
  readonly base: string
  readonly token: string
  readonly method: string
  readonly path: string
}

/** Sends one request. It does not follow redirects, because the token is only for this server. */
async function request<T>({ base, token, method, path }: Question): Promise<T> {
  let response: Response
  try {
    response = await fetch(`${base}/api/v3/bgjobs/${path}`, {
      method,
      redirect: 'manual',
      headers: { 'private-token': token, accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS)
    })
    if (response.ok) return (await response.json()) as T
  } catch (error) {
    throw unreachable(base, error)
  }
  throw await refused(base, response, path)
}

function unreachable(base: string, error: unknown): Failure {
  if (error instanceof SyntaxError) return foreign(base)
  return notConnected(base, error)
}

const foreign = (base: string) =>
  new Misconfigured(`${base} is not a Gitstead appliance with a dashboard: check the URL, or upgrade that appliance`)

async function refused(base: string, response: Response, path: string): Promise<Failure> {
  const { status } = response
  const body = (await response.json().catch(() => ({}))) as { message?: unknown }
  if (status === 401) return new Misconfigured(`${base} rejected the token: check it, or create a new one`)
  // An administrator may do everything here, except what the state of the record forbids.
  if (status === 403 && path.startsWith('builds/')) return new Forbidden(String(body.message))
  if (status === 403) return new Misconfigured(`${base}: the token must belong to an administrator`)
  if (status === 409) return new Conflict(String(body.message))
  if (status >= 500 || status === 429) return new Unavailable(`${base} responded with status ${status}`)
  const missing = /(Job|Build)( \d+)? Not Found/.exec(String(body.message))?.[1]
  if (status === 404 && missing !== undefined) return new NotFound(missing)
  if (path === 'overview') return foreign(base)
  const told = body.message ?? status
  return new Failure(typeof told === 'string' ? told : JSON.stringify(told))
}

function checked(found: JobOverview, base: string): JobOverview {
  const lists = [found?.queues, found?.processes, found?.failures, found?.builds]
  if (!lists.every(Array.isArray) || typeof found.totals !== 'object') throw foreign(base)
  // An older appliance reports no hooks and no mail.
  const mail = found.mail ?? { waiting: 0, held: 0, failed: 0, bounced: 0, troubled: [] }
  return { ...found, hooks: found.hooks ?? [], mail }
}

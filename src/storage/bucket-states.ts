// Names what is wrong with the bucket, and remembers it: for logs, metrics, health, and for requests that need not wait again.
import { BucketUnavailable } from '../errors.js'
import { log } from '../log.js'

interface State {
  /** Follows "the storage of files". Clients see it, so it names no bucket and no address. */
  readonly text: string
  /** For a sysadmin. */
  readonly remedy: string
  /** It may pass by itself: nobody has to change anything. */
  readonly passes: boolean
}

const passes = (text: string, remedy: string): State => ({ text, remedy, passes: true })
const stays = (text: string, remedy: string): State => ({ text, remedy, passes: false })

const BUCKET_STATES = {
  bucket_away: passes('cannot be reached', 'check the endpoint in storage.s3, and the network to it'),
  bucket_slow: passes('does not answer in time', 'look at the load of the service; storage.s3.timeout is the limit'),
  bucket_busy: passes(
    'has too many requests of this server',
    'raise storage.s3.connections if the service can do more'
  ),
  bucket_throttled: passes(
    'asks for fewer requests',
    'lower storage.s3.connections, or ask for a higher limit of the service'
  ),
  bucket_failing: passes('fails', 'look at the logs of the service'),
  bucket_cut: passes('breaks connections off', 'look at the network and at proxies in front of the service'),
  bucket_full: stays('is full', 'give the bucket more room, or remove files from it'),
  bucket_missing: stays('has no such bucket', 'create the bucket, or correct storage.s3.bucket'),
  bucket_region: stays('is in another region', 'correct storage.s3.region, or the endpoint'),
  bucket_credentials: stays('refuses the keys', 'correct access_key_id and secret_access_key in storage.s3'),
  bucket_denied: stays(
    'denies the access',
    'give the keys the rights PutObject, GetObject, DeleteObject and ListBucket for this bucket'
  ),
  bucket_clock: stays('has another time', 'set the clocks of this machine and of the service, for example with NTP'),
  bucket_tls: stays(
    'has a certificate that is not trusted',
    'correct the certificate of the service, or NODE_EXTRA_CA_CERTS'
  ),
  bucket_refuses: stays('refuses the request', 'check storage.s3: path_style, endpoint and region must fit the service')
} as const satisfies { readonly [name: string]: State }

export type BucketState = keyof typeof BUCKET_STATES

const BY_NAME: { readonly [error: string]: BucketState } = {
  NoSuchBucket: 'bucket_missing',
  PermanentRedirect: 'bucket_region',
  AuthorizationHeaderMalformed: 'bucket_region',
  IllegalLocationConstraintException: 'bucket_region',
  InvalidAccessKeyId: 'bucket_credentials',
  SignatureDoesNotMatch: 'bucket_credentials',
  ExpiredToken: 'bucket_credentials',
  InvalidToken: 'bucket_credentials',
  CredentialsProviderError: 'bucket_credentials',
  AccessDenied: 'bucket_denied',
  AllAccessDisabled: 'bucket_denied',
  AccountProblem: 'bucket_denied',
  RequestTimeTooSkewed: 'bucket_clock',
  RequestExpired: 'bucket_clock',
  SlowDown: 'bucket_throttled',
  ServiceUnavailable: 'bucket_throttled',
  Throttling: 'bucket_throttled',
  RequestTimeout: 'bucket_slow',
  AbortError: 'bucket_slow',
  QuotaExceeded: 'bucket_full',
  InsufficientCapacity: 'bucket_full',
  XMinioStorageFull: 'bucket_full'
}

interface ServiceError {
  readonly name?: string
  readonly message?: string
  readonly code?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
}

export const statusOf = (error: unknown): number | undefined => (error as ServiceError).$metadata?.httpStatusCode

/** Returns the state that an error of the SDK shows. */
export function stateOf(error: unknown): BucketState {
  const { name = '', message = '', code = '' } = error as ServiceError
  const byName = BY_NAME[name]
  if (byName) return byName
  const status = statusOf(error)
  if (status !== undefined) return ofStatus(status)
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(code)) return 'bucket_tls'
  if (name === 'TimeoutError') return /establish a connection/.test(message) ? 'bucket_away' : 'bucket_slow'
  if (code === 'ETIMEDOUT') return 'bucket_slow'
  return code === 'ECONNRESET' || code === 'EPIPE' ? 'bucket_cut' : 'bucket_away'
}

/** The answer to HEAD has no body that would name the reason. */
function ofStatus(status: number): BucketState {
  if (status === 301 || status === 307) return 'bucket_region'
  if (status === 403) return 'bucket_denied'
  if (status === 404) return 'bucket_missing'
  if (status === 429 || status === 503) return 'bucket_throttled'
  if (status === 507) return 'bucket_full'
  return status >= 500 ? 'bucket_failing' : 'bucket_refuses'
}

const PASSES_S = 10
const STAYS_S = 60

export function bucketFault(state: BucketState): BucketUnavailable {
  const { text, remedy, passes } = BUCKET_STATES[state]
  const advice = passes ? 'try again later' : 'an administrator finds the remedy with gitstead doctor'
  return new BucketUnavailable(
    state,
    `the storage of files ${text} (${state}): ${advice}`,
    remedy,
    passes ? PASSES_S : STAYS_S
  )
}

/** After so many failures in a row, requests fail at once, and one in PAUSE_MS milliseconds tries whether the bucket is back. */
const FEW = 3
const PAUSE_MS = 2000

/** What the last requests of this process have shown about one bucket. */
export class BucketHealth {
  state: BucketState | null = null
  #failures = 0
  #triedAt = 0
  readonly counts = new Map<string, number>()
  seconds = 0

  /** Throws the fault of the last requests while it is unlikely that the next one succeeds. */
  requireAnswers(): void {
    if (this.state === null || this.#failures < FEW || !BUCKET_STATES[this.state].passes) return
    const now = performance.now()
    if (now - this.#triedAt < PAUSE_MS) throw bucketFault(this.state)
    this.#triedAt = now
  }

  /** Notes an answer, also that an object does not exist. */
  answered(operation: string, since: number): void {
    this.#count(operation, 'ok', since)
    if (this.state !== null) log().info({ was: this.state }, 'the bucket answers again')
    this.state = null
    this.#failures = 0
  }

  /** Notes a failure, and returns the error for the caller. The log shows the reason once, not for each request. */
  failed(operation: string, since: number, error: unknown): BucketUnavailable {
    const state = stateOf(error)
    this.#count(operation, state, since)
    this.#failures += 1
    this.#triedAt = performance.now()
    if (this.state !== state) {
      const { name, code } = error as ServiceError
      const { text, remedy } = BUCKET_STATES[state]
      log().warn(
        { state, operation, error: name, code, status: statusOf(error), remedy },
        `the storage of files ${text}`
      )
    }
    this.state = state
    return bucketFault(state)
  }

  #count(operation: string, outcome: string, since: number): void {
    const key = `${operation} ${outcome}`
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
    this.seconds += (performance.now() - since) / 1000
  }
}

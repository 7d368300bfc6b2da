// The bucket of an S3-compatible service (storage.s3). The SDK is loaded only when a bucket is configured: it takes 100 ms and 30 MB.
//
// A bucket may be slow or away for long. So each request has a time limit, a limited number of them is open, and while the bucket does
// not answer, requests fail at once: nothing else waits for it.
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type * as Sdk from '@aws-sdk/client-s3'
import type { ByteRange, ChooseRange } from '../lib/byte-range.js'
import { Limiter, type LimiterRequest, type Release } from '../lib/limiter.js'
import { BucketHealth, bucketFault, stateOf, statusOf } from './bucket-states.js'
import type { OpenFile } from './files.js'
import { type BucketSettings, bucketSettings } from './places.js'
import { ResumedStream } from './resumed-stream.js'
import { presign, type SignedRequest } from './signed-urls.js'

/** Tries of one upload. The SDK repeats other requests itself; a stream cannot be sent twice. */
const TRIES = 3
const CONNECT_MS = 5000
/** How many requests may wait for a connection, and for how long in milliseconds. */
const MOST_WAITING = 512
const PATIENCE_MS = 10_000
/** A larger file is uploaded in parts, so that a failure repeats only one of them. Services allow 10,000 parts. */
const LARGE = 33_554_432
const PART = 16_777_216
const MOST_PARTS = 9000
/** Bytes that a bucket copies in one request, whose answer has a time limit. */
const COPIED_AT_ONCE = 67_108_864

interface Bucket {
  readonly sdk: typeof Sdk
  readonly client: Sdk.S3Client
  readonly name: string
  readonly prefix: string
}

interface Options {
  readonly abortSignal: AbortSignal
}

export interface ObjectHead {
  readonly size: number
  readonly etag: string | undefined
  /** The hash of the content in base64, if somebody asks for it and the bucket has compared it when the object was written. */
  readonly sha256?: string | undefined
}

const silent = () => undefined

let opened: { readonly of: BucketSettings; readonly bucket: Promise<Bucket>; readonly health: BucketHealth } | undefined

function current() {
  const of = bucketSettings()
  if (opened?.of !== of) opened = { of, bucket: openBucket(of), health: new BucketHealth() }
  return opened
}

async function openBucket(settings: BucketSettings): Promise<Bucket> {
  const sdk = await import('@aws-sdk/client-s3')
  const { bucket: name, region, endpoint, path_style, access_key_id: id, secret_access_key: key } = settings
  const agent = { keepAlive: true, maxSockets: settings.connections }
  const client = new sdk.S3Client({
    region,
    ...(endpoint !== null && { endpoint }),
    forcePathStyle: path_style,
    // Without keys, the SDK looks in the environment and asks the machine for its role.
    ...(id !== null && key !== null && { credentials: { accessKeyId: id, secretAccessKey: key } }),
    // Services other than Amazon's do not support the checksums that the SDK adds otherwise. The row has a SHA-256.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: TRIES,
    // The SDK would write to standard output; the callers report failures.
    logger: { trace: silent, debug: silent, info: silent, warn: silent, error: silent },
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: settings.timeout * 1000,
      socketTimeout: settings.timeout * 1000,
      httpAgent: agent,
      httpsAgent: agent
    }
  })
  return { sdk, client, name: name ?? '', prefix: settings.prefix }
}

/** Open uploads and downloads leave connections for each other, and for short requests. */
type Lane = 'reads' | 'writes' | 'others'

interface Turn extends LimiterRequest {
  readonly client: Lane
}

const connections = () => bucketSettings().connections

const turns = new Limiter<Turn>({
  capacity: connections,
  quotas: ({ client }) => (client === 'others' ? [] : [[client, Math.floor((connections() * 3) / 4)]]),
  queue: { capacity: MOST_WAITING, full: () => bucketFault('bucket_busy') },
  patience: { milliseconds: PATIENCE_MS, over: () => bucketFault('bucket_busy') }
})

const limitOf = () => bucketSettings().timeout * 1000

/** Ends requests, with all their repetitions, that take longer than the limit until their answer begins. */
async function inTime<T>(work: (options: Options) => Promise<T>): Promise<T> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), limitOf())
  try {
    return await work({ abortSignal: late.signal })
  } finally {
    clearTimeout(timer)
  }
}

interface Asked {
  /** For the metrics. */
  readonly operation: string
  readonly lane: Lane
}

/** Makes one request, in its turn, and notes what it shows about the bucket. Throws BucketUnavailable. */
async function ask<T>({ operation, lane }: Asked, work: (bucket: Bucket) => Promise<T>): Promise<T> {
  const { bucket, health } = current()
  health.requireAnswers()
  const release = await turns.acquire({ client: lane })
  const since = performance.now()
  try {
    const answer = await work(await bucket)
    health.answered(operation, since)
    if (answer instanceof Held) answer.hold(release)
    else release()
    return answer
  } catch (error) {
    release()
    throw health.failed(operation, since, error)
  }
}

/** The body of an answer. It holds the turn until it is read to its end or destroyed. */
class Held {
  constructor(readonly stream: Readable) {}

  hold(release: Release): void {
    if (this.stream.destroyed) release()
    else this.stream.once('close', release)
  }
}

/** What the requests of this process have shown; undefined without a bucket. `state` is null while the bucket answers. */
export function bucketReport() {
  if (bucketSettings().bucket === null) return undefined
  const { state, counts, seconds } = current().health
  return { state, counts, seconds, open: turns.held, waiting: turns.queued }
}

/** Throws BucketUnavailable unless the bucket exists and accepts the keys. */
export async function requireBucket(): Promise<void> {
  await ask({ operation: 'look', lane: 'others' }, ({ sdk, client, name: Bucket }) =>
    inTime(options => client.send(new sdk.HeadBucketCommand({ Bucket }), options))
  )
}

/** Uploads a file from the disk, and replaces an object with this name. The object is complete or absent. Throws BucketUnavailable. */
export const putObject = (name: string, path: string, size: number): Promise<void> =>
  ask({ operation: 'put', lane: 'writes' }, async bucket => {
    const { sdk, client, name: Bucket, prefix } = bucket
    if (size > LARGE) {
      const send: Parts['send'] = async (part, range) => {
        const ContentLength = range.end - range.start + 1
        const sent = await repeated(path, range, Body =>
          client.send(new sdk.UploadPartCommand({ ...part, Body, ContentLength }))
        )
        return sent.ETag
      }
      return inParts(bucket, { name, size, least: PART, send })
    }
    await repeated(path, undefined, Body =>
      client.send(new sdk.PutObjectCommand({ Bucket, Key: prefix + name, Body, ContentLength: size }))
    )
  })

/** Uploads bytes with a checksum (SHA-256, base64). Returns false when the service refuses the request. Throws BucketUnavailable. */
export const putChecked = (name: string, bytes: Buffer, checksum: string): Promise<boolean> =>
  ask({ operation: 'put', lane: 'writes' }, async ({ sdk, client, name: Bucket, prefix }) => {
    const command = new sdk.PutObjectCommand({ Bucket, Key: prefix + name, Body: bytes, ChecksumSHA256: checksum })
    return inTime(options => client.send(command, options)).then(
      () => true,
      error => {
        if (statusOf(error) !== 400) throw error
        return false
      }
    )
  })

/** Sends a part of a file, and sends it again after a failure that may pass. */
async function repeated<T>(
  path: string,
  part: ByteRange | undefined,
  send: (body: Readable) => Promise<T>
): Promise<T> {
  const end = performance.now() + limitOf()
  for (let tries = 1; ; tries++) {
    const body = createReadStream(path, part)
    try {
      return await send(body)
    } catch (error) {
      if (tries === TRIES || (statusOf(error) ?? 500) < 500 || performance.now() > end) throw error
    } finally {
      body.destroy()
    }
  }
}

interface Parts {
  readonly name: string
  readonly size: number
  /** The length of a part. The last one may be shorter, and those of a huge object are longer. */
  readonly least: number
  /** Returns the ETag of the part. */
  readonly send: (
    part: Pick<Sdk.UploadPartCommandInput, 'Bucket' | 'Key' | 'UploadId' | 'PartNumber'>,
    range: ByteRange
  ) => Promise<string | undefined>
}

/** A crash leaves parts in the bucket that no list shows: docs/operate/storage.md has a rule of the bucket that removes them. */
async function inParts(
  { sdk, client, name: Bucket, prefix }: Bucket,
  { name, size, least, send }: Parts
): Promise<void> {
  const of = { Bucket, Key: prefix + name }
  const { UploadId } = await inTime(options => client.send(new sdk.CreateMultipartUploadCommand(of), options))
  try {
    const Parts: Sdk.CompletedPart[] = []
    const length = Math.max(least, Math.ceil(size / MOST_PARTS))
    for (let start = 0; start < size; start += length) {
      const end = Math.min(size, start + length) - 1
      const PartNumber = Parts.length + 1
      Parts.push({ ETag: await send({ ...of, UploadId, PartNumber }, { start, end }), PartNumber })
    }
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...of, UploadId, MultipartUpload: { Parts } }))
  } catch (error) {
    await inTime(options => client.send(new sdk.AbortMultipartUploadCommand({ ...of, UploadId }), options)).catch(
      () => undefined
    )
    throw error
  }
}

/** Opens an object, or a part of it; undefined when there is none. Throws BucketUnavailable, and what `choose` throws. */
export async function openObject(name: string, choose?: ChooseRange): Promise<OpenFile | undefined> {
  const head = choose && (await headObject(name))
  if (choose && !head) return undefined
  const range = head && choose?.(head.size)
  const found = await getObject(name, range, head?.etag)
  if (!found) return undefined
  const { size, etag, stream } = found
  const whole = range ?? { start: 0, end: size - 1 }
  const openRest = async (rest: ByteRange) => {
    const more = await getObject(name, rest, etag)
    if (!more) throw bucketFault('bucket_cut')
    return more.stream
  }
  return { size: head?.size ?? size, ...(range && { range }), stream: new ResumedStream(stream, whole, openRest) }
}

interface FoundObject extends ObjectHead {
  readonly stream: Readable
}

/** With a version, it finds only this one: another archive may take its place in the meantime. */
async function getObject(name: string, range?: ByteRange, etag?: string): Promise<FoundObject | undefined> {
  let about: ObjectHead = { size: 0, etag }
  const held = await ask({ operation: 'get', lane: 'reads' }, async ({ sdk, client, name: Bucket, prefix }) => {
    const command = new sdk.GetObjectCommand({
      Bucket,
      Key: prefix + name,
      IfMatch: etag,
      ...(range && { Range: `bytes=${range.start}-${range.end}` })
    })
    const answer = await inTime(options => client.send(command, options)).catch(unlessMissing)
    if (!answer) return undefined
    about = { size: answer.ContentLength ?? 0, etag: answer.ETag }
    return new Held(answer.Body instanceof Readable ? answer.Body : Readable.from([]))
  })
  return held && { ...about, stream: held.stream }
}

/** Copies an object, and replaces one with the new name. The bucket does the work. Throws BucketUnavailable. */
export const copyObject = (from: string, to: string, size: number): Promise<void> =>
  ask({ operation: 'copy', lane: 'writes' }, async bucket => {
    const { sdk, client, name: Bucket, prefix } = bucket
    const CopySource = `${Bucket}/${prefix}${from}`
    if (size <= COPIED_AT_ONCE) {
      await inTime(options => client.send(new sdk.CopyObjectCommand({ Bucket, Key: prefix + to, CopySource }), options))
      return
    }
    const send: Parts['send'] = async (part, { start, end }) => {
      const command = new sdk.UploadPartCopyCommand({ ...part, CopySource, CopySourceRange: `bytes=${start}-${end}` })
      return (await inTime(options => client.send(command, options))).CopyPartResult?.ETag
    }
    await inParts(bucket, { name: to, size, least: COPIED_AT_ONCE, send })
  })

/** The size and version of an object; undefined when there is none. Throws BucketUnavailable. */
export const headObject = (name: string, { withHash = false } = {}): Promise<ObjectHead | undefined> =>
  ask({ operation: 'head', lane: 'others' }, async ({ sdk, client, name: Bucket, prefix }) => {
    const command = new sdk.HeadObjectCommand({
      Bucket,
      Key: prefix + name,
      ...(withHash && { ChecksumMode: 'ENABLED' })
    })
    const found = await inTime(options => client.send(command, options)).catch(unlessMissing)
    return found && { size: found.ContentLength ?? 0, etag: found.ETag, sha256: found.ChecksumSHA256 }
  })

/** Removes an object, if there is one. Throws BucketUnavailable. */
export const removeObject = (name: string): Promise<void> =>
  ask({ operation: 'delete', lane: 'others' }, async ({ sdk, client, name: Bucket, prefix }) => {
    const command = new sdk.DeleteObjectCommand({ Bucket, Key: prefix + name })
    await inTime(options => client.send(command, options)).catch(unlessMissing)
  })

export interface StoredObject {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly changed: number
  /** Bytes. */
  readonly size: number
}

/** Yields the objects whose names begin with `start`, a thousand at a time. Throws BucketUnavailable. */
export async function* listObjects(start: string): AsyncGenerator<StoredObject[]> {
  const prefix = bucketSettings().prefix
  for (let ContinuationToken: string | undefined; ; ) {
    const page = await ask({ operation: 'list', lane: 'others' }, ({ sdk, client, name: Bucket }) => {
      const command = new sdk.ListObjectsV2Command({ Bucket, Prefix: prefix + start, ContinuationToken })
      return inTime(options => client.send(command, options))
    })
    yield (page.Contents ?? []).flatMap(({ Key, LastModified, Size = 0 }) =>
      Key === undefined
        ? []
        : [{ name: Key.slice(prefix.length), changed: LastModified?.getTime() ?? Date.now(), size: Size }]
    )
    ContinuationToken = page.NextContinuationToken
    if (ContinuationToken === undefined) return
  }
}

/**
 * Returns a URL with which anyone may make this request for an object. It does not look whether the object exists. Throws
 * BucketUnavailable without keys.
 */
export async function signedUrl(
  name: string,
  asked: Pick<SignedRequest, 'method' | 'headers' | 'answer' | 'seconds'>
): Promise<string> {
  const settings = bucketSettings()
  const { client, prefix } = await current().bucket
  const keys = await client.config.credentials().catch(error => {
    throw bucketFault(stateOf(error))
  })
  return presign({ ...asked, settings, keys, key: prefix + name, now: new Date() })
}

function unlessMissing(error: unknown): undefined {
  const status = statusOf(error)
  // 412: the object was replaced between its head and its body, and the next request gets the new one.
  if ((status !== 404 && status !== 412) || (error as Error).name === 'NoSuchBucket') throw error
}

// A bucket of an S3-compatible service for archives, for the traces of builds that have ended, and for uploads. The SDK is loaded only
// when a bucket is configured: it takes 100 ms and 30 MB.
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type * as Sdk from '@aws-sdk/client-s3'
import { config } from '../config.js'
import { Unavailable } from '../errors.js'
import type { ChooseRange } from '../lib/byte-range.js'
import type { OpenFile } from './files.js'

/** Tries of one upload. The SDK repeats other requests itself; a stream cannot be sent twice. */
const TRIES = 3
const CONNECT_MS = 5000

interface Bucket {
  readonly sdk: typeof Sdk
  readonly client: Sdk.S3Client
  readonly name: string
  readonly prefix: string
}

interface Options {
  readonly abortSignal: AbortSignal
}

interface Head {
  readonly size: number
  readonly etag: string | undefined
}

const silent = () => undefined

let opened: { readonly of: object; readonly bucket: Promise<Bucket> } | undefined

/** Whether files of builds are kept in a bucket. */
export const hasBucket = (): boolean => config().artifacts.s3.bucket !== null

const limitOf = () => config().artifacts.s3.timeout * 1000

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

function bucket(): Promise<Bucket> {
  const settings = config().artifacts.s3
  if (opened?.of !== settings) opened = { of: settings, bucket: openBucket() }
  return opened.bucket
}

async function openBucket(): Promise<Bucket> {
  const sdk = await import('@aws-sdk/client-s3')
  const {
    bucket: name,
    region,
    endpoint,
    path_style,
    access_key_id: id,
    secret_access_key: key,
    prefix,
    timeout
  } = config().artifacts.s3
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
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: timeout * 1000, socketTimeout: timeout * 1000 }
  })
  return { sdk, client, name: name ?? '', prefix }
}

/** Throws Unavailable unless the bucket exists and accepts the keys. */
export async function requireBucket(): Promise<void> {
  const { sdk, client, name: Bucket } = await bucket()
  await inTime(options => client.send(new sdk.HeadBucketCommand({ Bucket }), options)).catch(error => {
    throw translated(error)
  })
}

/** Uploads a file from the disk, and replaces an object with this name. The object is complete or absent. Throws Unavailable. */
export async function putObject(name: string, path: string, size: number): Promise<void> {
  const { sdk, client, name: Bucket, prefix } = await bucket()
  const end = performance.now() + limitOf()
  for (let tries = 1; ; tries++) {
    const Body = createReadStream(path)
    try {
      await client.send(new sdk.PutObjectCommand({ Bucket, Key: prefix + name, Body, ContentLength: size }))
      return
    } catch (error) {
      if (tries === TRIES || !isPassing(error) || performance.now() > end) throw translated(error)
    } finally {
      Body.destroy()
    }
  }
}

/** Opens an object, or a part of it; undefined when there is none. Throws Unavailable, and what `choose` throws. */
export const openObject = (name: string, choose?: ChooseRange): Promise<OpenFile | undefined> =>
  inTime(options => open(name, choose, options))

async function open(name: string, choose: ChooseRange | undefined, options: Options): Promise<OpenFile | undefined> {
  const found = await head(name, options)
  if (!found) return undefined
  const { size, etag } = found
  const range = choose?.(size)
  const { sdk, client, name: Bucket, prefix } = await bucket()
  const answer = await client
    .send(
      new sdk.GetObjectCommand({
        Bucket,
        Key: prefix + name,
        // Another archive may take the place of this one in the meantime.
        IfMatch: etag,
        ...(range && { Range: `bytes=${range.start}-${range.end}` })
      }),
      options
    )
    .catch(unlessMissing)
  if (!answer) return undefined
  return { size, ...(range && { range }), stream: answer.Body instanceof Readable ? answer.Body : Readable.from([]) }
}

/** The size and version of an object; undefined when there is none. Throws Unavailable. */
export const headObject = (name: string): Promise<Head | undefined> => inTime(options => head(name, options))

async function head(name: string, options: Options): Promise<Head | undefined> {
  const { sdk, client, name: Bucket, prefix } = await bucket()
  const found = await client
    .send(new sdk.HeadObjectCommand({ Bucket, Key: prefix + name }), options)
    .catch(unlessMissing)
  return found && { size: found.ContentLength ?? 0, etag: found.ETag }
}

/** Removes an object, if there is one. Throws Unavailable. */
export async function removeObject(name: string): Promise<void> {
  const { sdk, client, name: Bucket, prefix } = await bucket()
  const command = new sdk.DeleteObjectCommand({ Bucket, Key: prefix + name })
  await inTime(options => client.send(command, options)).catch(unlessMissing)
}

export interface StoredObject {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly changed: number
  /** Bytes. */
  readonly size: number
}

/** Yields the objects whose names begin with `start`, a thousand at a time. Throws Unavailable. */
export async function* listObjects(start: string): AsyncGenerator<StoredObject[]> {
  const { sdk, client, name: Bucket, prefix } = await bucket()
  for (let ContinuationToken: string | undefined; ; ) {
    const command = new sdk.ListObjectsV2Command({ Bucket, Prefix: prefix + start, ContinuationToken })
    const page = await inTime(options => client.send(command, options)).catch(error => {
      throw translated(error)
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

interface ServiceError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number }
}

const statusOf = (error: unknown) => (error as ServiceError).$metadata?.httpStatusCode
const isPassing = (error: unknown) => (statusOf(error) ?? 500) >= 500

function unlessMissing(error: unknown): undefined {
  const status = statusOf(error)
  // 412: the object was replaced between its head and its body, and the next request gets the new one.
  if ((status !== 404 && status !== 412) || (error as Error).name === 'NoSuchBucket') throw translated(error)
}

/** Clients see the text too, so it names no bucket and no address. */
function translated(error: unknown): Error {
  const status = statusOf(error)
  // The answer to HEAD has no body with a name.
  const name = (error as Error).name === 'Unknown' ? `status ${status}` : (error as Error).name
  return new Unavailable(`the storage of files ${status === undefined ? 'does not answer' : `refuses: ${name}`}`)
}

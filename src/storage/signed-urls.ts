// Signs the URL of an object, so that a client reads or writes it in the bucket without keys (AWS Signature Version 4, in the query).
import { createHash, createHmac } from 'node:crypto'
import type { BucketSettings } from './places.js'

interface Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

export interface SignedRequest {
  readonly settings: BucketSettings
  readonly keys: Keys
  readonly key: string
  readonly method: 'GET' | 'PUT'
  /** Headers that the request must have, by their names in lower case. */
  readonly headers?: { readonly [name: string]: string }
  /** Headers of the answer, which the signature covers too: a client cannot choose a type that a browser would execute. */
  readonly answer?: { readonly type: string; readonly disposition: string }
  readonly seconds: number
  readonly now: Date
}

/** RFC 3986: encodeURIComponent leaves five more characters. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, found => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Returns the URL. It works for `seconds` from `now`, for one method, and with these headers only. */
export function presign({ settings, keys, key, method, headers, answer, seconds, now }: SignedRequest): string {
  const { origin, host, path } = placeOf(settings, key)
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const signed = Object.entries({ ...headers, host }).sort(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const scope = `${day}/${settings.region}/s3/aws4_request`
  const query = Object.entries({
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${keys.accessKeyId}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(seconds),
    ...(keys.sessionToken && { 'X-Amz-Security-Token': keys.sessionToken }),
    'X-Amz-SignedHeaders': names,
    ...(answer && {
      'response-cache-control': 'private, no-store',
      'response-content-disposition': answer.disposition,
      'response-content-type': answer.type
    })
  })
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join('&')
  const lines = signed.map(([name, value]) => `${name}:${value}`)
  const request = [method, path, query, ...lines, '', names, 'UNSIGNED-PAYLOAD'].join('\n')
  const hash = createHash('sha256').update(request).digest('hex')
  const signing = [day, settings.region, 's3', 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${keys.secretAccessKey}`
  )
  const signature = hmac(signing, ['AWS4-HMAC-SHA256', time, scope, hash].join('\n')).toString('hex')
  return `${origin}${path}?${query}&X-Amz-Signature=${signature}`
}

function placeOf({ bucket, region, endpoint, public_endpoint, path_style }: BucketSettings, key: string) {
  const service = new URL(public_endpoint ?? endpoint ?? `https://s3.${region}.amazonaws.com`)
  const host = path_style ? service.host : `${bucket}.${service.host}`
  const path = `${path_style ? `/${bucket}` : ''}/${key.split('/').map(encode).join('/')}`
  return { origin: `${service.protocol}//${host}`, host, path }
}

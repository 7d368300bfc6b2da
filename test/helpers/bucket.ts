// A real S3-compatible server with one bucket, behind a proxy that can be slow, silent or broken.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { loadConfig } from '../../src/config.js'

interface Teardown {
  teardown(work: () => unknown): void
}

/** What the proxy does with a request. Without it, and if it returns `pass`, the request reaches the bucket. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => unknown

/** Answers as S3 does. */
export const refuses =
  (status: number, code: string): Fault =>
  (request, response) => {
    const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>no</Message></Error>`
    request.resume()
    response.writeHead(status, { 'content-type': 'application/xml' })
    response.end(request.method === 'HEAD' ? undefined : body)
  }

/** Accepts the request, and never answers. */
export const isSilent: Fault = request => void request.resume()

const CHECKSUM = 'x-amz-checksum-sha256'

export interface TestBucket {
  readonly endpoint: string
  /** The number of requests that have reached the proxy. */
  requests: number
  fault: Fault | undefined
  /** Cuts the next so many answers after as many bytes of their bodies. */
  cuts: { times: number; after: number }
  /** Whether it compares the checksums of uploads, as S3 does, and says so; otherwise it ignores them. */
  comparesChecksums: boolean
  /** The server disagrees with the SDK about the signature of a path-style list, so it checks signatures only if this is true. */
  checkSignatures(checks: boolean): void
}

/** Starts the server, and configures its bucket as storage.s3 until the end of the test. */
export async function testBucket(t: Teardown, settings: Readonly<Record<string, string>> = {}): Promise<TestBucket> {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-bucket-'))
  const S3rver = createRequire(import.meta.url)('@20minutes/s3rver')
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: folder,
    configureBuckets: [{ name: 'files' }],
    allowMismatchedSignatures: true
  })
  const { port } = (await server.run()) as AddressInfo
  const proxy = createServer((incoming, response) => {
    bucket.requests += 1
    incoming.on('error', () => undefined)
    if (bucket.fault && bucket.fault(incoming, response) !== 'pass') return
    if (bucket.comparesChecksums && incoming.method === 'PUT' && CHECKSUM in incoming.headers)
      return void compare(incoming, response)
    pass(incoming, response, incoming)
  })
  /** The compared checksums of objects. */
  const compared = new Map<string, string>()
  const pathOf = ({ url = '' }: IncomingMessage) => url.replace(/\?.*/, '')
  async function compare(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming)
    const checksum = String(incoming.headers[CHECKSUM])
    if (createHash('sha256').update(body).digest('base64') !== checksum)
      return void refuses(400, 'BadDigest')(incoming, response)
    pass(incoming, response, Readable.from([body]), () => compared.set(pathOf(incoming), checksum))
  }
  function pass(incoming: IncomingMessage, response: ServerResponse, body: Readable, written?: () => unknown): void {
    const { method, url, headers } = incoming
    const passed = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, answer => {
      const known = compared.get(pathOf(incoming))
      if (method === 'PUT' || method === 'DELETE') compared.delete(pathOf(incoming))
      if (answer.statusCode === 200) written?.()
      const isAsked = method === 'HEAD' && headers['x-amz-checksum-mode'] === 'ENABLED' && known !== undefined
      response.writeHead(answer.statusCode ?? 500, { ...answer.headers, ...(isAsked && { [CHECKSUM]: known }) })
      if (incoming.method !== 'GET' || bucket.cuts.times === 0) return void answer.pipe(response)
      bucket.cuts.times -= 1
      let left = bucket.cuts.after
      answer.on('data', (chunk: Buffer) => {
        response.write(chunk.subarray(0, left), () => left <= 0 && response.destroy())
        left -= Math.min(left, chunk.length)
      })
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    body.pipe(passed)
  }
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const bucket: TestBucket = {
    endpoint,
    requests: 0,
    fault: undefined,
    cuts: { times: 0, after: 0 },
    comparesChecksums: true,
    checkSignatures: checks => {
      server.allowMismatchedSignatures = !checks
    }
  }
  const names = configureBucket({ endpoint, ...settings })
  t.teardown(async () => {
    for (const name of names) delete process.env[name]
    loadConfig({})
    proxy.closeAllConnections()
    await new Promise(resolve => proxy.close(resolve))
    server.httpServer?.closeAllConnections()
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return bucket
}

const KEYS = { bucket: 'files', path_style: 'true', access_key_id: 'S3RVER', secret_access_key: 'S3RVER' }

/** Sets keys of storage.s3, and others by their full names (`storage.uploads`), in the environment. Returns the names of the variables. */
export function configureBucket(settings: Readonly<Record<string, string>>): string[] {
  const names = Object.entries({ ...KEYS, ...settings }).map(([key, value]) => {
    const path = key.includes('.') ? key : `storage.s3.${key}`
    const name = `GITSTEAD_${path.replaceAll('.', '_').toUpperCase()}`
    process.env[name] = value
    return name
  })
  loadConfig({})
  return names
}

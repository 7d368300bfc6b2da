import { type RequestOptions, request } from 'node:http'
import { Readable } from 'node:stream'
import type { Attack } from './support/attack.js'

const CHUNK = Buffer.alloc(65_536, 'x')
const BOUNDARY = 'attack'
const JSON_TYPE = 'application/json'

export const attack: Attack = {
  name: 'large-bodies',
  about:
    'forms of 200 fields of 16 MB, JSON of 100,000s of objects, and bodies without a length, many at once and without credentials',
  limit: { memory: 256, seconds: 30, statuses: [400, 401, 408, 413, 429, 503] },
  run: async ({ url, short }) => {
    const times = short ? 4 : 20
    const to = `${url}/api/v3/session`
    const form = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    const objects = `{"login":[${'{},'.repeat(340_000)}{}]}`
    const bodies = Array.from({ length: times }, () => [
      send(to, { headers: form }, multipart(short ? 10 : 200, 16)),
      send(to, { headers: { 'content-type': JSON_TYPE } }, Readable.from([objects])),
      send(to, { headers: { 'content-type': JSON_TYPE, 'content-length': objects.length } }, Readable.from([objects])),
      send(`${url}/users/sign_in`, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }, endless(64))
    ])
    return (await Promise.all(bodies.flat())).filter(status => status !== 0)
  }
}

function* multipart(fields: number, mebibytes: number): Generator<string | Buffer> {
  for (let field = 0; field < fields; field++) {
    yield `--${BOUNDARY}\r\ncontent-disposition: form-data; name="login"\r\n\r\n`
    yield* endless(mebibytes)
    yield '\r\n'
  }
  yield `--${BOUNDARY}--\r\n`
}

function* endless(mebibytes: number): Generator<Buffer> {
  for (let sent = 0; sent < mebibytes * 16; sent++) yield CHUNK
}

/** Posts a body, in chunks unless the headers have a length. Returns the status, or 0 when the server hangs up first. */
function send(url: string, options: RequestOptions, body: Iterable<string | Buffer> | Readable): Promise<number> {
  return new Promise(resolve => {
    const source = body instanceof Readable ? body : Readable.from(body)
    const posted = request(url, { ...options, method: 'POST', agent: false }, answer => {
      // An attacker would continue to send.
      answer.resume().once('end', () => source.destroy())
      resolve(answer.statusCode ?? 0)
      posted.destroy()
    })
    posted.once('error', () => resolve(0))
    source.on('error', () => undefined).pipe(posted)
  })
}

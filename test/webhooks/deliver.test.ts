import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { loadConfig, root } from '../../src/config.js'
import { Misconfigured } from '../../src/errors.js'
import { parseRanges } from '../../src/lib/address.js'
import { deliverHook, type HookRequest } from '../../src/webhooks/deliver.js'
import { sign } from '../../src/webhooks/sign.js'
import { checkedLookup } from '../../src/webhooks/target.js'
import t from '../helpers/tap.js'
import { rawReceiver, receiver, selfSigned } from './receiver.js'

const home = t.testdir()
const allowing = (allow: string[], rest: object = {}) => loadConfig({ home, hooks: { allow, ...rest } })
const timestamp = new Date('2026-01-02T03:04:05.678Z')

function hook(url: string, over: Partial<HookRequest> = {}): HookRequest {
  const body = '{"event_name":"push"}'
  return { url, body, event: 'System Hook', token: null, verifyTls: true, id: 'delivery-1', timestamp, ...over }
}

t.beforeEach(() => {
  allowing(['127.0.0.0/8'])
})

t.test('a delivery is sent and signed, and its result has no secrets', async t => {
  const { port, received } = await receiver(t, response => {
    response.writeHead(201, { 'X-Answer': 'yes' }).end('thanks, grüße')
  })
  const body = '{"name":"Zoë"}'
  const token = 'a secret tøken ✓'
  const result = await deliverHook(hook(`http://us%3Aer:p%40ss@127.0.0.1:${port}/in?x=1#no`, { body, token }))

  t.match(result, { delivered: true, status: 201, error: null, responseBody: 'thanks, grüße', durationMs: Number })
  t.match(result.responseHeaders, { 'x-answer': 'yes' })
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.match(received, [{ method: 'POST', url: '/in?x=1', body }])
  const headers = received[0]?.headers
  const sent = Buffer.from(token).toString('latin1')
  t.strictSame(headers, {
    host: `127.0.0.1:${port}`,
    connection: 'close',
    'content-type': 'application/json',
    'content-length': '15',
    'user-agent': `Gitstead/${version}`,
    'x-gitstead-event': 'System Hook',
    'x-gitlab-event': 'System Hook',
    'x-gitstead-token': sent,
    'x-gitlab-token': sent,
    'webhook-id': 'delivery-1',
    'webhook-timestamp': '1767323045',
    'webhook-signature': sign({ id: 'delivery-1', timestamp, body, token }),
    authorization: `Basic ${Buffer.from('us:er:p@ss').toString('base64')}`
  })

  const recorded = result.requestHeaders
  t.match(recorded, {
    'X-Gitstead-Token': '[redacted]',
    'X-Gitlab-Token': '[redacted]',
    Authorization: '[redacted]',
    'webhook-signature': '[redacted]'
  })
  t.notMatch(JSON.stringify(result), /tøken|p@ss|p%40ss/)
})

t.test('without a token there is no signature, and the bytes are sent as they are', async t => {
  const { port, received } = await receiver(t, response => response.end())
  const result = await deliverHook(hook(`http://127.0.0.1:${port}`, { body: Buffer.from('{"a":\n1}'), token: '' }))
  t.equal(result.delivered, true)
  t.equal(received[0]?.body, '{"a":\n1}')
  t.notMatch(Object.keys(received[0]?.headers ?? {}).join(' '), /token|signature|authorization/)
})

t.test('a delivery does not use a proxy of the environment', async t => {
  const proxy = await rawReceiver(t, socket => socket.end())
  const { port } = await receiver(t, response => response.end())
  const url = `http://127.0.0.1:${proxy.port}`
  t.intercept(process, 'env', { value: { ...process.env, http_proxy: url, HTTP_PROXY: url, NODE_USE_ENV_PROXY: '1' } })
  t.match(await deliverHook(hook(`http://127.0.0.1:${port}`)), { delivered: true })
  t.equal(proxy.seen.connections, 0)
})

t.test('when an answer repeats the secrets, the record does not have them', async t => {
  const { port, received } = await receiver(t, response => {
    const headers = received[0]?.headers
    response.setHeader('X-Echo', String(headers?.['x-gitstead-token'])).end(JSON.stringify(headers))
  })
  const result = await deliverHook(hook(`http://user:password@127.0.0.1:${port}`, { token: 'whsec_c2VjcmV0' }))
  t.match(result.responseBody, /"x-gitlab-token":"\[redacted]"/)
  t.match(result.responseHeaders, { 'x-echo': '[redacted]' })
  t.notMatch(JSON.stringify(result), /whsec_|password|dXNlcjpw/)
})

t.test('when an answer repeats the values of the query, the record does not have them', async t => {
  const { port } = await receiver(t, (response, url) => {
    response.end(`${url} ${decodeURIComponent(url)}`)
  })
  const result = await deliverHook(hook(`http://127.0.0.1:${port}/in?token=whsec%20c2Vj&onlyvalue&n=1`))
  t.equal(result.responseBody, '/in?token=[redacted]&[redacted]&n=1 /in?token=[redacted]&[redacted]&n=1')
})

t.test('a status outside of 2xx is a failure', async t => {
  const { port, received } = await receiver(t, (response, url) => {
    response.writeHead(Number(url.slice(1)), { Location: `http://127.0.0.1:${port}/200` }).end('told so')
  })
  for (const status of [301, 302, 303, 307, 308, 304]) {
    const error = `the receiver redirects (${status}), and redirects are not followed`
    t.match(await deliverHook(hook(`http://127.0.0.1:${port}/${status}`)), { delivered: false, status, error })
  }
  for (const status of [400, 404, 410, 500, 503]) {
    const answer = { delivered: false, status, error: `the receiver answered ${status}`, responseBody: 'told so' }
    t.match(await deliverHook(hook(`http://127.0.0.1:${port}/${status}`)), answer)
  }
  t.equal(received.length, 11, 'no redirect was followed')
})

t.test('the certificate is checked only if the hook asks for it', async t => {
  const certificate = selfSigned(t.testdir())
  const { port, received } = await receiver(t, response => response.end('sure'), certificate)
  for (const host of ['localhost', '127.0.0.1']) {
    const refused = await deliverHook(hook(`https://${host}:${port}`))
    t.match(refused, {
      delivered: false,
      status: null,
      error: 'the certificate of the receiver is not valid: self-signed certificate'
    })
    t.equal(received.length, 0)
    const accepted = await deliverHook(hook(`https://${host}:${port}`, { verifyTls: false }))
    t.match(accepted, { delivered: true, status: 200, responseBody: 'sure' })
    received.length = 0
  }
  const plain = await receiver(t, response => response.end())
  t.match(await deliverHook(hook(`https://127.0.0.1:${plain.port}`)), { status: null, error: /^TLS with the receiver/ })
})

t.test('private addresses are refused', async t => {
  const { port, seen } = await rawReceiver(t, socket => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
  const spellings = {
    '127.0.0.1': ['127.0.0.1', '127.1', '0x7f000001', '0177.0.0.1', '2130706433', '127.0.0.1.', '①27.0.0.1'],
    '::ffff:7f00:1': ['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:FFFF:127.0.0.1]'],
    '::7f00:1': ['[::127.0.0.1]'],
    '::1': ['[::1]'],
    '0.0.0.0': ['0', '0.0.0.0'],
    '169.254.169.254': ['169.254.169.254', '2852039166'],
    '64:ff9b::a00:1': ['[64:ff9b::10.0.0.1]']
  }
  const message = (address: string) => `hooks may not reach the address ${address}: list it in hooks.allow to allow it`
  allowing([])
  for (const [address, hosts] of Object.entries(spellings)) {
    for (const host of hosts) {
      const result = await deliverHook(hook(`http://${host}:${port}/`))
      t.match(result, { delivered: false, status: null, error: message(address) }, host)
    }
  }
  t.match(await deliverHook(hook(`https://127.0.0.1:${port}/`)), { error: message('127.0.0.1') })
  t.match(await deliverHook(hook(`http://localhost:${port}/`)), {
    error: /^hooks may not reach the address (127.0.0.1|::1):/
  })
  t.match(await deliverHook(hook(`http://LOCALHOST.:${port}/`)), { delivered: false, status: null })
  allowing(['127.0.0.2', '10.0.0.0/8'])
  t.match(await deliverHook(hook(`http://127.0.0.1:${port}/`)), { error: message('127.0.0.1') })
  t.equal(seen.connections, 0)
})

t.test('allowed addresses are reached by name and in every spelling', async t => {
  const { port, received } = await receiver(t, response => response.end())
  allowing(['127.0.0.1'])
  for (const host of ['localhost', '127.0.0.1', '127.1', '0x7f000001']) {
    t.match(await deliverHook(hook(`http://${host}:${port}/`)), { delivered: true }, host)
  }
  t.equal(received[0]?.headers.host, `localhost:${port}`)
})

t.test('the lookup returns checked addresses in both of its forms, also for many calls at once', async t => {
  const { signal } = new AbortController()
  const ask = (name: string, all: boolean, allow = ['127.0.0.1'], by = signal) =>
    new Promise((resolve, reject) => {
      const answered = (error: Error | null, address: unknown, family?: number) =>
        error ? reject(error) : resolve([address, family])
      checkedLookup(parseRanges(allow), by)(name, { all }, answered)
    })
  t.strictSame(await ask('localhost', true), [[{ address: '127.0.0.1', family: 4 }], undefined])
  t.strictSame(await ask('localhost', false), ['127.0.0.1', 4])
  await t.rejects(ask('localhost', true, []), { name: 'RefusedTarget' })
  await t.rejects(ask('127.0.0.1', false, ['10.0.0.1']), { name: 'RefusedTarget', address: '127.0.0.1' })
  const crowd = Array.from({ length: 9 }, (_, index) =>
    index % 3 ? ask('localhost', false) : ask('localhost', true, ['127.0.0.1'], AbortSignal.abort())
  )
  const outcomes = (await Promise.allSettled(crowd)).map(({ status }) => status)
  t.equal(outcomes.filter(status => status === 'fulfilled').length, 6)
  t.strictSame(await ask('localhost', false), ['127.0.0.1', 4], 'no place is lost')
})

t.test('a delivery to a slow receiver is cut off', async t => {
  allowing(['127.0.0.0/8'], { timeout: 4, response_limit: 20 })
  const error = 'no complete answer within 4 s'
  const every = (socket: Socket, text: string) => {
    const timer = setInterval(() => socket.write(text), 50)
    socket.on('close', () => clearInterval(timer))
  }
  const drip = await rawReceiver(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\nX-Slow: yes\r\n\r\nbegin ..............')
    every(socket, '.')
  })
  const headers = await rawReceiver(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\n')
    every(socket, 'X-A: b\r\n')
  })
  const silent = await rawReceiver(t, socket => socket.resume())
  const deaf = await rawReceiver(t, socket => socket.pause())
  const upgrade = await rawReceiver(t, socket => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  })
  const informing = await rawReceiver(t, socket => every(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n'))
  const mute = await rawReceiver(t, socket => socket.resume())
  const large = 'x'.repeat(20 * 1024 * 1024)
  const results = await Promise.all([
    deliverHook(hook(`http://127.0.0.1:${drip.port}/`)),
    deliverHook(hook(`http://127.0.0.1:${headers.port}/`)),
    deliverHook(hook(`http://127.0.0.1:${silent.port}/`)),
    deliverHook(hook(`http://127.0.0.1:${deaf.port}/`, { body: large })),
    deliverHook(hook(`http://127.0.0.1:${informing.port}/`)),
    deliverHook(hook(`http://127.0.0.1:${upgrade.port}/`)),
    deliverHook(hook(`https://127.0.0.1:${mute.port}/`))
  ])
  t.match(results[0], { delivered: false, status: 200, error, responseHeaders: { 'x-slow': 'yes' } })
  t.match(results[0]?.responseBody, /^begin \.{14}$/)
  for (const result of results.slice(1)) t.match(result, { delivered: false, status: null, error })
})

t.test('a huge answer is kept and read only in part, and the delivery succeeds', async t => {
  allowing(['127.0.0.0/8'], { response_limit: 10 })
  const sent = { bytes: 0 }
  const { port } = await rawReceiver(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    const flood = () => {
      while (!socket.destroyed && socket.write('€'.repeat(10000))) sent.bytes += 30000
    }
    socket.on('drain', flood)
    flood()
  })
  t.match(await deliverHook(hook(`http://127.0.0.1:${port}/`)), { delivered: true, status: 200, responseBody: '€€€' })
  t.ok(sent.bytes < 32 * 1024 * 1024)
})

t.test('the kept answer is a valid text of limited size', async t => {
  const { port } = await receiver(t, (response, url) => {
    if (url === '/binary') return response.end(Buffer.alloc(100, 0xff))
    for (let index = 0; index < 60; index++) response.setHeader(`X-${index}`, index < 3 ? 'v'.repeat(3000) : 'v')
    response.setHeader('X-0', ['a', 'b'])
    response.setHeader('__proto__', 'x')
    return response.end('b\u0000d')
  })
  allowing(['127.0.0.0/8'], { response_limit: 10 })
  t.match(await deliverHook(hook(`http://127.0.0.1:${port}/binary`)), { responseBody: '\ufffd\ufffd\ufffd' })
  const { responseHeaders } = await deliverHook(hook(`http://127.0.0.1:${port}/`))
  t.equal(Object.keys(responseHeaders).length, 50)
  t.equal(responseHeaders['x-0'], 'a, b')
  t.equal(responseHeaders['x-1']?.length, 1000)
  allowing(['127.0.0.0/8'], { response_limit: 0 })
  t.match(await deliverHook(hook(`http://127.0.0.1:${port}/`)), { delivered: true, responseBody: '' })
})

t.test('a receiver that breaks off, or does not speak HTTP, is a failure', async t => {
  const gone = await rawReceiver(t, socket => socket.end())
  const reset = await rawReceiver(t, socket => socket.resetAndDestroy())
  const half = await rawReceiver(t, socket => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'))
  const other = await rawReceiver(t, socket => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
  const smuggled = await rawReceiver(t, socket => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')
  })
  const heavy = await rawReceiver(t, socket => socket.end(`HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(40000)}\r\n\r\n`))
  const closed = 'the receiver closed the connection before its answer was complete'
  const to = (port: number) => deliverHook(hook(`http://127.0.0.1:${port}/`))

  t.match(await to(gone.port), { delivered: false, status: null, error: closed })
  t.match(await to(reset.port), { delivered: false, status: null, error: closed })
  t.match(await to(half.port), { delivered: false, status: 200, error: closed, responseBody: 'half' })
  t.match(await to(other.port), { delivered: false, status: null, error: /^the answer is not HTTP: / })
  t.match(await to(smuggled.port), { delivered: false, error: /^the answer is not HTTP: / })
  t.match(await to(heavy.port), { delivered: false, status: null, error: 'the headers of the answer are too large' })
  t.match(await deliverHook(hook('http://127.0.0.1:1/')), { status: null, error: 'the connection was refused' })
  const nobody = await deliverHook(hook('http://nobody.invalid/'))
  t.match(nobody, { status: null, error: /^the host name (has no address|cannot be resolved at the moment)$/ })
})

t.test('no value can break out of its header or URL', async t => {
  const { port, received } = await receiver(t, response => response.end())
  const base = `http://127.0.0.1:${port}`
  for (const token of ['a\r\nX-Evil: 1', 'a\nb', 'a\u0000b', 'a\u007fb', 'a\rb']) {
    const error = 'the token has characters that are not allowed in a header'
    const result = await deliverHook(hook(base, { token }))
    t.match(result, { delivered: false, status: null, error })
  }
  const urls = ['/a\r\nX-Evil: 1', '/ HTTP/1.1', '/\u0000', '/\t', '\\@example.com/']
  for (const url of urls) {
    const error = 'the URL has spaces, backslashes or control characters'
    t.match(await deliverHook(hook(base + url)), { delivered: false, error })
  }
  for (const url of ['ftp://127.0.0.1/', 'file:///etc/passwd', 'data:,x', 'unix:/run/x', '']) {
    t.match(await deliverHook(hook(url)), { delivered: false, error: 'the URL is not an http or https URL' }, url)
  }
  t.match(await deliverHook(hook(base, { body: Buffer.alloc(26 * 1024 * 1024) })), { error: /^the payload is larger/ })
  t.equal(received.length, 0)

  const encoded = await deliverHook(hook(`http://a%0D%0AX-Evil%3A1:%zz@127.0.0.1:${port}/%0d%0aX-Evil:1?ü=%0a`))
  t.equal(encoded.delivered, true)
  t.equal(received[0]?.url, '/%0d%0aX-Evil:1?%C3%BC=%0a')
  t.equal(received[0]?.headers['x-evil'], undefined)
  t.match(received[0]?.headers.authorization, Buffer.from('a\r\nX-Evil:1:%zz').toString('base64'))
})

t.test('the error for a wrong range in the configuration names it', async t => {
  allowing(['10.0.0.0/8', 'intranet'])
  const message = 'configuration: hooks.allow: "intranet" is not an address or a range such as 10.0.0.0/8 or fd00::/8'
  await t.rejects(deliverHook(hook('http://127.0.0.1/')), new Misconfigured(message))
})

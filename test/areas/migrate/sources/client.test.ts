import { createHash } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { ahead } from '../../../../src/areas/migrate/sources/ahead.js'
import { openClient } from '../../../../src/areas/migrate/sources/client.js'
import { loadConfig } from '../../../../src/config.js'
import t, { type Test } from '../../../helpers/tap.js'
import { receiver } from '../../../webhooks/receiver.js'

process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
loadConfig({})

type Answer = (response: ServerResponse, url: string) => void

/** Starts a source, and returns a function that opens a client for one run. Pauses are recorded instead of waited for. */
async function subject(t: Test, answer: Answer, { maxBytes = 1e9, limits = {} } = {}) {
  const folder = t.testdir()
  const source = await receiver(t, answer)
  const base = new URL(`http://127.0.0.1:${source.port}/api/`)
  const pauses: number[] = []
  const ending = new AbortController()
  const run = (number: number, pages?: URL) => {
    const client = openClient({
      base,
      ...(pages && { pages }),
      headers: { 'private-token': 'sesame' },
      folder,
      run: number,
      rate: 1e6,
      maxBytes,
      limits,
      signal: ending.signal,
      sleep: async milliseconds => void pauses.push(milliseconds)
    })
    t.teardown(client.close)
    return client
  }
  const asked = () => source.received.map(({ url }) => url)
  return { folder, base, run, pauses, asked, received: source.received, ending }
}

const json = (response: ServerResponse, value: unknown, headers = {}) => {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

async function all(list: AsyncIterable<readonly unknown[]>) {
  const found: unknown[] = []
  for await (const page of list) found.push(...page)
  return found
}

t.test('a list has all pages, by Link and by X-Next-Page', async t => {
  const { run, asked, received } = await subject(t, (response, url) => {
    const page = Number(new URL(url, 'http://x').searchParams.get('page') ?? 1)
    if (url.startsWith('/api/linked'))
      // The name of the server is that behind a proxy.
      return json(response, [page], page < 3 ? { link: `<http://inside/api/linked?page=${page + 1}>; rel="next"` } : {})
    json(response, [page], { 'x-next-page': page < 2 ? String(page + 1) : '' })
  })
  const client = run(1)
  t.same(await all(client.list('linked')), [1, 2, 3])
  t.same(await all(client.list('numbered?state=all')), [1, 2])
  t.equal(asked().at(-1), '/api/numbered?state=all&page=2')
  t.equal(client.requests(), 5)
  t.ok(received.every(({ method, headers }) => method === 'GET' && headers['private-token'] === 'sesame'))
})

t.test('what moves to the next page while a list is read comes once', async t => {
  const pages = [[1, { id: 2 }, { id: 3 }], [{ id: 2 }, { id: 3 }, 4], [4]]
  const { run } = await subject(t, (response, url) => {
    const page = Number(new URL(url, 'http://x').searchParams.get('page') ?? 1)
    json(response, pages[page - 1], { 'x-next-page': page < 3 ? String(page + 1) : '' })
  })
  t.same(await all(run(1).list('moving')), [1, { id: 2 }, { id: 3 }, 4])
})

t.test('pages of a run are fetched once, and a later run asks for each with its ETag', async t => {
  let content = ['one']
  const { run, asked, folder, received } = await subject(t, (response, url) => {
    if (url === '/api/plain') return json(response, content)
    const etag = `"${createHash('sha1').update(String(content)).digest('hex')}"`
    if (received.at(-1)?.headers['if-none-match'] === etag) return response.writeHead(304).end()
    json(response, content, { etag })
  })
  t.same((await run(1).get('tagged')).body, ['one'])
  await run(1).get('plain')
  const resumed = run(1)
  t.same((await resumed.get('tagged')).body, ['one'])
  t.same((await resumed.get('plain')).body, ['one'])
  t.same(asked(), ['/api/tagged', '/api/plain'], 'a killed run continues without requests')

  const files = async () => (await readdir(folder, { recursive: true })).sort()
  const before = await files()
  const second = run(2)
  t.same((await second.get('tagged')).body, ['one'])
  t.same((await second.get('plain')).body, ['one'])
  t.same([asked().length, second.newest()], [4, 1], 'one request for each page; nothing is new')
  t.same(await files(), before)

  content = ['two']
  const third = run(3)
  t.same((await third.get('tagged')).body, ['two'])
  t.equal(third.newest(), 3)
})

t.test('a page that has not changed is asked for once in a run, however often it is read', async t => {
  const { run, asked } = await subject(t, response => json(response, ['same']))
  await run(1).get('list')
  const client = run(2)
  for (let read = 0; read < 3; read++) t.same((await client.get('list')).body, ['same'])
  t.equal(client.requests(), 1)
  t.equal(asked().length, 2)
  t.equal(client.newest(), 1)
})

t.test('an absent list is empty where it may be, and its appearance is a change', async t => {
  let status = 404
  const { run, asked } = await subject(t, response => {
    if (status === 200) json(response, [1])
    else response.writeHead(status).end('{"message":"sesame"}')
  })
  const client = run(1)
  t.same(await all(client.list('hooks', { optional: true })), [])
  t.equal(await client.find('hooks'), null)
  t.equal(asked().length, 1, 'the absence is stored, too')
  await t.rejects(client.get('hooks'), { message: /\/api\/hooks answered with status 404$/ })
  status = 200
  const second = run(2)
  t.same(await all(second.list('hooks', { optional: true })), [1])
  t.equal(second.newest(), 2)
  status = 401
  await t.rejects(run(3).find('hooks'), {
    name: 'SourceRefusal',
    message: /status 401: the token is wrong or has ended/
  })
})

t.test('the client waits as the source asks, and tries again while it is busy', async t => {
  const answers = [
    (response: ServerResponse) => response.writeHead(429, { 'retry-after': '7' }).end(),
    (response: ServerResponse) => response.writeHead(502).end(),
    (response: ServerResponse) => response.destroy(),
    (response: ServerResponse) =>
      response
        .writeHead(403, {
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 50)
        })
        .end(),
    (response: ServerResponse) => json(response, { at: 'last' })
  ]
  const { run, pauses, asked } = await subject(t, response => answers.shift()?.(response))
  t.same((await run(1).get('busy')).body, { at: 'last' })
  t.equal(asked().length, 5)
  t.ok(pauses.some(pause => pause > 6_000 && pause <= 7_000) && pauses.some(pause => pause > 49_000), 'named times')
  const down = await subject(t, response => response.writeHead(503).end())
  await t.rejects(down.run(1).get('down'), { name: 'SourceFailure', message: /still answers with status 503/ })
})

t.test(
  'files are asked for with the token only at the servers of the source, and only where a reader wants it',
  async t => {
    const { base, run, received } = await subject(t, response => void response.writeHead(200).end('picture'))
    const pages = await receiver(t, response => void response.writeHead(200).end('picture'))
    const client = run(1, new URL(`http://127.0.0.1:${pages.port}/`))
    const tokenAt = async (url: string, needsToken?: boolean) => {
      await client.file({ url, ...(needsToken !== undefined && { needsToken }) }, buffer)
      const last = url.startsWith(base.origin) ? received.at(-1) : pages.received.at(-1)
      t.equal(last?.headers.accept, 'application/octet-stream')
      return last?.headers['private-token'] !== undefined
    }
    const page = `http://127.0.0.1:${pages.port}/file`
    t.same(
      [await tokenAt(base.href), await tokenAt(base.href, true), await tokenAt(base.href, false)],
      [true, true, false],
      'the server of the API'
    )
    t.same(
      [await tokenAt(page), await tokenAt(page, true), await tokenAt(page, false)],
      [false, true, false],
      'that of the pages'
    )
  }
)

t.test('redirects stay on the server, and files may be on another one, which does not get the token', async t => {
  const elsewhere = await receiver(t, response => response.end('picture'))
  const { run, base } = await subject(t, (response, url) => {
    if (url === '/api/end') return json(response, 1)
    const to = { '/api/moved': '/api/end', '/api/loop': '/api/loop' }[url] ?? `http://127.0.0.1:${elsewhere.port}/x.png`
    response.writeHead(302, { location: to }).end()
  })
  const client = run(1)
  t.equal((await client.get('moved')).body, 1)
  await t.rejects(client.get('loop'), { message: /redirects too often/ })
  await t.rejects(client.get('away?token=x'), { message: /away\?token=redacted redirects to another server/ })
  t.equal(elsewhere.received.length, 0)
  t.equal(String(await client.file({ url: `${base.href}file` }, buffer)), 'picture')
  t.equal(elsewhere.received[0]?.headers['private-token'], undefined)
})

t.test('addresses inside are refused, from the URL and from a redirect of a file', async t => {
  const { run, base } = await subject(t, response =>
    response.writeHead(302, { location: 'http://169.254.169.254/x' }).end()
  )
  await t.rejects(run(1).file({ url: `${base.href}x` }, buffer), {
    message: /169\.254\.169\.254, which the appliance may not reach/
  })
  t.equal(await run(1).file({ url: 'file:///etc/passwd' }, buffer), null)
  await t.rejects(run(1).get('http://127.0.0.1:1/api/x'), { message: /another server/ })
})

t.test('hostile answers end with a named error, and nothing is stored', async t => {
  const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024, 32))
  const cases: readonly (readonly [name: string, answer: Answer, message: RegExp])[] = [
    ['a bomb', r => r.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb), /larger than 33554432 bytes/],
    ['another encoding', r => r.writeHead(200, { 'content-encoding': 'br' }).end('x'), /content encoding/],
    ['1 TB', r => endless(r), /larger than 33554432 bytes/],
    ['many values', r => r.end(`[${'0,'.repeat(600_000)}0]`), /more than 300000 values/],
    ['no JSON', r => r.end('<html>sesame</html>'), /is not JSON/],
    ['no list', r => json(r, { message: 'sesame' }), /is not a list/],
    ['endless pages', (r, url) => json(r, [], { link: `<${url}>; rel=next` }), /leads to itself/],
    ['a link outside the API', r => json(r, [], { link: '</other>; rel=next' }), /another server/]
  ]
  for (const [name, answer, message] of cases) {
    const { run } = await subject(t, answer)
    const error = (await all(run(1).list('records')).catch((error: unknown) => error)) as Error
    t.match(error.message, message, name)
    t.notMatch(error.message, /sesame/)
  }
  const { run } = await subject(t, response => json(response, ['x'.repeat(600)]), { maxBytes: 1000 })
  const client = run(1)
  await client.get('one')
  await t.rejects(client.get('two'), { message: /more than 1000 bytes of records/ })
})

t.test('a source that drips a byte at a time, or falls silent, ends with a named error', async t => {
  const drip = (response: ServerResponse) => {
    response.writeHead(200, { 'content-length': '1000000' })
    const timer = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(timer))
  }
  const cases: readonly (readonly [name: string, answer: Answer, limits: { page?: number; idle?: number }, RegExp])[] =
    [
      ['drips', drip, { page: 0.3 }, /gave no complete answer within 0\.3 s/],
      ['says nothing', () => {}, { idle: 0.1 }, /was silent for 0\.1 s/],
      ['stops in its answer', r => r.writeHead(200).write('['), { idle: 0.1 }, /was silent for 0\.1 s/]
    ]
  for (const [name, answer, limits, message] of cases) {
    const { run, asked } = await subject(t, answer, { limits })
    await t.rejects(run(1).get('page'), { message }, name)
    t.equal(asked().length, 6, 'after a few attempts')
  }
})

t.test('a page that announces too many bytes is refused before they come, once', async t => {
  // It sends nothing: only the header says how much would come.
  const { run, asked } = await subject(t, r => r.writeHead(200, { 'content-length': '1000000000000' }).write('['))
  await t.rejects(run(1).get('page'), { message: /is larger than 33554432 bytes, by its Content-Length/ })
  t.equal(asked().length, 1)
})

t.test('a redirect to a URL without an origin is named by its scheme', async t => {
  const { run } = await subject(t, r => r.writeHead(302, { location: 'data:text/plain,x' }).end())
  await t.rejects(run(1).get('page'), { message: /redirects to another server, a URL that begins with data:/ })
})

t.test('a page that a power failure has cut is fetched again', async t => {
  const { run, asked, folder } = await subject(t, response => json(response, 1))
  await run(1).get('page')
  const [file = ''] = (await readdir(folder, { recursive: true })).filter(name => name.endsWith('.gz'))
  await writeFile(`${folder}/${file}`, '')
  t.equal((await run(1).get('page')).body, 1)
  t.equal(asked().length, 2)
})

t.test('ahead keeps the order, and bounds the calls', async t => {
  let [running, most] = [0, 0]
  const results = ahead([3, 1, 2, 0], 2, async item => {
    most = Math.max(most, ++running)
    for (let turn = 0; turn < item; turn++) await null
    running--
    return item
  })
  const found: number[] = []
  for await (const result of results) found.push(result)
  t.same([found, most], [[3, 1, 2, 0], 2])
})

function endless(response: ServerResponse) {
  const chunk = Buffer.alloc(1024 * 1024, 32)
  const send = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', send)
  }
  response.writeHead(200, { 'content-length': String(1e12) })
  send()
}

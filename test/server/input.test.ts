// Every form in which a client can send its parameters, and every way to get them wrong.
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { testApp } from '../helpers/app.js'
import t from '../helpers/tap.js'

const BOUNDARY = 'xxxBOUNDARYxxx'
const multipart = (fields: [string, string][]) =>
  `${fields.map(([name, value]) => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('')}--${BOUNDARY}--\r\n`

t.test('encodings', async t => {
  const app = await testApp(t)
  const admin = await app.make.admin()
  const headers = { 'private-token': admin.privateToken }
  const send = (type: string | undefined, payload: string | Buffer | undefined, query = '', more = {}) =>
    app.fastify.inject({
      method: 'POST',
      url: `/api/v3/hooks${query}`,
      headers: { ...headers, ...(type === undefined ? {} : { 'content-type': type }), ...more },
      ...(payload === undefined ? {} : { payload })
    })
  const sendChunks = (type: string, payload: string) =>
    app.fastify.inject({
      method: 'POST',
      url: '/api/v3/hooks',
      headers: { ...headers, 'content-type': type, 'transfer-encoding': 'chunked' },
      payload: Readable.from((payload.match(/.{1,60000}/gs) ?? []).map(chunk => Buffer.from(chunk)))
    })
  const url = 'http://h.example.org/?q=ü+&x=1'
  const form = `url=${encodeURIComponent(url)}&push_events=false`
  const fields: [string, string][] = [
    ['url', url],
    ['push_events', 'false']
  ]
  const ways: [string, string | undefined, string | undefined, string][] = [
    ['JSON', 'application/json', JSON.stringify({ url, push_events: false }), ''],
    ['JSON with a charset', 'application/json; charset=utf-8', JSON.stringify({ url, push_events: 'false' }), ''],
    ['a form', 'application/x-www-form-urlencoded', form, ''],
    ['multipart', `multipart/form-data; boundary=${BOUNDARY}`, multipart(fields), ''],
    ['the query', undefined, undefined, `?${form}`],
    ['the query with an empty JSON body', 'application/json', '', `?${form}`],
    ['both; the body wins', 'application/json', JSON.stringify({ url }), '?url=http://other.example.org&push_events=0']
  ]
  for (const [what, type, payload, query] of ways) {
    t.test(`by ${what}`, async t => {
      const res = await send(type, payload, query)
      t.equal(res.statusCode, 201, res.body)
      t.match(res.json(), [{ url, push_events: false }])
    })
  }

  t.test('a list in a multipart form', async t => {
    const project = await app.make.project({ owner: admin })
    const list: [string, string][] = [
      ['scope[]', 'failed'],
      ['scope[]', 'bogus']
    ]
    const res = await app.fastify.inject({
      method: 'GET',
      url: `/api/v3/projects/${project.id}/builds?scope[]=failed&scope[]=success`,
      headers
    })
    t.equal(res.statusCode, 200)
    const name = await send(`multipart/form-data; boundary=${BOUNDARY}`, multipart([['url[]', 'http://x'], ...list]))
    t.match(name.json(), { error: 'url is invalid' }, 'a url cannot be a list')
  })

  t.test('every word for yes and no', async t => {
    for (const [words, meaning] of [
      [['true', 't', '1', 'on', 'yes', 'TRUE', 'Yes'], true],
      [['false', 'f', '0', 'off', 'no', ''], false]
    ] as const) {
      for (const word of words) {
        const res = await send('application/x-www-form-urlencoded', `url=http://h.example.org&push_events=${word}`)
        t.equal(res.json()[0].push_events, meaning, word)
      }
    }
  })

  t.test('a body that is not JSON', async t => {
    for (const payload of ['{', '{"url":}', 'url=x', '\u0000', '{"a":1}x', "{'a':1}"]) {
      const res = await send('application/json', payload)
      t.equal(res.statusCode, 400, payload)
      t.same(Object.keys(res.json()), ['message'])
    }
  })

  t.test('JSON that is not an object has no parameters', async t => {
    for (const payload of ['[]', '"text"', '1', 'null', 'true', '[{"url":"http://x"}]']) {
      const res = await send('application/json', payload)
      t.equal(res.statusCode, 400, payload)
      t.match(res.json(), { error: 'url is missing' })
    }
  })

  t.test('a body of another type is refused, because its parameters would be lost silently', async t => {
    for (const type of ['text/plain', 'application/xml', 'application/octet-stream', 'application/jsonx']) {
      const res = await send(type, 'url=http://x.example.org')
      t.equal(res.statusCode, 415, type)
      t.match(res.json().message, `the Content-Type of the body is ${type}, but must be application/json`)
    }
    const untyped = await send(undefined, 'hello', `?${form}`)
    t.equal(untyped.statusCode, 415, 'also with parameters in the query')
    t.match(untyped.json().message, 'is missing')
    t.equal((await send('text/plain', '', `?${form}`)).statusCode, 201, 'an empty body loses nothing')
  })

  t.test('a body in another encoding than UTF-8 is refused, because other characters would be stored', async t => {
    const latin = (text: string) => Buffer.from(text, 'latin1')
    const bodies: [string, Buffer][] = [
      ['application/json', latin('{"url":"http://h.example.org/caf\xe9"}')],
      ['application/json', Buffer.from('\ufeff{"url":"http://h.example.org"}', 'utf16le')],
      ['application/x-www-form-urlencoded', latin('url=http://h.example.org/caf\xe9')],
      ['application/x-www-form-urlencoded', latin('url=http://h.example.org/caf%E9')]
    ]
    for (const [type, payload] of bodies) {
      const res = await send(type, payload)
      t.equal(res.statusCode, 400, type)
      t.match(res.json(), { message: '400 (Bad request) the body is not valid UTF-8' })
    }
    const percent = await send('application/x-www-form-urlencoded', 'url=http://h.example.org/100%-%C3%A9')
    t.equal(percent.statusCode, 201, 'a lone percent sign is text')
  })

  t.test('the error for a compressed body names the encoding', async t => {
    for (const [type, payload] of [
      ['application/json', JSON.stringify({ url })],
      ['application/x-www-form-urlencoded', form],
      [`multipart/form-data; boundary=${BOUNDARY}`, multipart(fields)]
    ] as const) {
      const res = await send(type, gzipSync(payload), '', { 'content-encoding': 'gzip' })
      t.equal(res.statusCode, 415, type)
      t.match(res.json().message, 'the Content-Encoding of the body is gzip')
    }
    t.equal(
      (await send('application/json', JSON.stringify({ url }), '', { 'content-encoding': 'identity' })).statusCode,
      201
    )
  })

  t.test('a byte order mark before JSON', async t => {
    t.equal((await send('application/json', `\ufeff${JSON.stringify({ url })}`)).statusCode, 201)
  })

  t.test('half a surrogate pair, which cannot be stored', async t => {
    const answer = await send('application/json', `{"url": "${url}/\\ud83d\\ude00\\ud800"}`)
    const [hook] = answer.json()
    t.equal(hook.url, `${url}/\u{1f600}\ufffd`)
  })

  t.test('keys that objects inherit have no meaning', async t => {
    const payload = '{"__proto__":{"url":"http://x.example.org"},"constructor":{"prototype":{"admin":true}}}'
    t.match((await send('application/json', payload)).json(), { error: 'url is missing' })
    const query = '__proto__[url]=http://x&__proto__=y&constructor[prototype][url]=z'
    t.match((await send('application/x-www-form-urlencoded', query)).json(), { error: 'url is missing' })
    t.equal(({} as { url?: string }).url, undefined)
  })

  t.test('too much at once', async t => {
    const res = await send('application/json', JSON.stringify({ url: 'x'.repeat(11_000_000) }))
    t.equal(res.statusCode, 413)
    t.match(res.json().message, '413 Request Entity Too Large - a body has at most 1048576 bytes')
    const values = await send('application/json', `{"url":[${'{},'.repeat(100_000)}{}]}`)
    t.equal(values.statusCode, 413)
    t.match(values.json().message, 'a body has at most 100000 values')
    const quoted = await send(
      'application/json',
      JSON.stringify({ url, push_events: false, x: ',\\",'.repeat(60_000) })
    )
    t.equal(quoted.statusCode, 201, 'a string is one value')
    t.equal((await send('application/json', `${'['.repeat(50_000)}${']'.repeat(50_000)}`)).statusCode, 400)
  })

  t.test('all fields of a multipart form together', async t => {
    const type = `multipart/form-data; boundary=${BOUNDARY}`
    const many = multipart(Array.from({ length: 150 }, () => ['x', 'x'.repeat(10_000)]))
    const sized = await send(type, many)
    t.equal(sized.statusCode, 413)
    t.match(sized.json().message, 'a body has at most 1048576 bytes')
    const unsized = await sendChunks(type, many)
    t.equal(unsized.statusCode, 413, 'also without a declared length')
    const few = multipart([...fields, ['x', 'x'.repeat(900_000)]])
    t.equal((await send(type, few)).statusCode, 201)
  })

  t.test('multipart that is not UTF-8 is refused, and stores no other characters', async t => {
    const type = `multipart/form-data; boundary=${BOUNDARY}`
    const latin1 = Buffer.from(multipart([['url', 'http://h.example.org/é']]), 'latin1')
    const res = await send(type, latin1)
    t.same([res.statusCode, res.json().message], [400, '400 (Bad request) the body is not valid UTF-8'])
    const charset = latin1.toString('latin1').replace('"url"', '"url"\r\ncontent-type: text/plain; charset=utf-8')
    t.equal((await send(type, Buffer.from(charset, 'latin1'))).statusCode, 400, 'whatever the part says')

    const mark = await send(type, multipart([['url', 'http://h.example.org/\ufffd'], ...fields.slice(1)]))
    t.equal(mark.statusCode, 201, mark.body)
    t.match(mark.body, /\ufffd|%EF%BF%BD/, 'the character that stands for such bytes is a character, too')
    const ofSize = (size: number) => multipart([['x', `${'x'.repeat(size)}${'é'.repeat(200)}`]])
    const sizes = [1_048_400, 1_048_401].map(async size => (await sendChunks(type, ofSize(size))).statusCode)
    t.same(await Promise.all(sizes), [413, 413], 'a value is too long, and not cut within a character')
  })

  t.test('multipart that is cut off, or has a file', async t => {
    const type = `multipart/form-data; boundary=${BOUNDARY}`
    for (const payload of [multipart(fields).slice(0, 60), '', `--${BOUNDARY}`]) {
      const res = await send(type, payload)
      t.ok(res.statusCode >= 400 && res.statusCode < 500, String(res.statusCode))
      t.type(res.json().message, 'string')
    }
    const file = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="url"; filename="x"\r\n\r\nx\r\n--${BOUNDARY}--\r\n`
    const res = await send(type, file)
    t.equal(res.statusCode, 400)
    t.match(res.json().message, 'the form has a file, but this request takes only text fields')
    t.ok((await send('multipart/form-data', 'x')).statusCode < 500, 'and without a boundary')
  })
})

t.test('paths and queries', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const project = await app.make.project({ owner: user })
  const headers = { 'private-token': user.privateToken }
  const get = (url: string, more = {}) => app.fastify.inject({ method: 'GET', url: `/api/v3${url}`, headers, ...more })

  t.test('a .json suffix is ignored', async t => {
    t.equal((await get(`/projects/${project.id}.json`)).json().id, project.id)
    t.equal((await get(`/projects/${project.id}.json/`)).json().id, project.id, 'also before a slash')
    t.equal((await get('/projects.json?per_page=1&search=a?b')).statusCode, 200)
    await app.make.file(project, 'a', 'x')
    t.equal((await get(`/projects/${project.id}/repository/tree.json?path=`)).statusCode, 200)
    t.equal((await get('/user.json')).json().id, user.id)
  })

  t.test('a JSON body {} on GET and DELETE is accepted', async t => {
    const json = { headers: { ...headers, 'content-type': 'application/json' } }
    t.equal((await get('/user', { ...json, payload: '{}' })).statusCode, 200)
    t.equal((await get('/user', json)).statusCode, 200, 'and the type without a body')
    const admin = await app.make.admin()
    const [hook] = (await app.as(admin).post('/hooks', { url: 'http://h.example.org' })).json()
    const res = await app.fastify.inject({
      method: 'DELETE',
      url: `/api/v3/hooks/${hook.id}`,
      headers: { 'private-token': admin.privateToken, 'content-type': 'application/json' },
      payload: '{}'
    })
    t.equal(res.statusCode, 200)
  })

  t.test('a DELETE also reads parameters from its body', async t => {
    await app.make.file(project, 'to-delete', 'x')
    const res = await app.fastify.inject({
      method: 'DELETE',
      url: `/api/v3/projects/${project.id}/repository/files`,
      headers,
      payload: { file_path: 'to-delete', branch_name: 'master', commit_message: 'Delete' }
    })
    t.equal(res.statusCode, 200, res.body)
  })

  t.test('a slash at the end is ignored', async t => {
    t.equal((await get('/projects/')).statusCode, 200)
  })

  t.test('escapes that are not UTF-8 are a bad request, never a fault', async t => {
    for (const url of ['/projects/%ff', '/projects/%', '/projects/%zz', '/%c0%af', '/projects/%e0%a4%a']) {
      const res = await get(url)
      t.ok([400, 404].includes(res.statusCode), `${url} ${res.statusCode}`)
      const body = res.json()
      t.ok(typeof body.message === 'string' || typeof body.error === 'string')
      t.notOk('statusCode' in body || 'code' in body, `no body of the framework: ${res.body}`)
    }
    for (const query of ['search=%ff', 'search=%', '%ff=1', 'search=%00', '=', '&&&', '[]=1', 'a[=1', '[a]=1']) {
      t.equal((await get(`/projects?${query}`)).statusCode, 200, query)
    }
  })

  t.test('unknown parameters are ignored', async t => {
    t.equal((await get('/projects?nonsense=1&x[]=2&y[z]=3')).statusCode, 200)
  })

  t.test('a path that is too long', async t => {
    const res = await get(`/projects/${'x'.repeat(2000)}?private_token=hidden`)
    t.equal(res.statusCode, 414)
    t.same(res.json(), { message: '414 A part of the path is longer than 1024 characters' })
    t.equal((await get(`/projects/${'x'.repeat(700)}`)).statusCode, 404)
  })

  t.test('a path with escapes of no text does not come back', async t => {
    const res = await get('/projects/%FF%zz?private_token=hidden')
    t.equal(res.statusCode, 400)
    t.same(res.json(), { message: '400 The URL has escapes that are not UTF-8' })
  })

  t.test('several slashes count as one, because clients join parts of an address', async t => {
    const at = `/projects/${project.id}`
    for (const url of [`/api/v3//projects//${project.id}`, `//api/v3${at}`, `/api/v3${at}//`]) {
      const res = await app.fastify.inject({ url, headers })
      t.equal(res.statusCode, 200, url)
      t.equal(res.json().id, project.id)
    }
    const list = await app.fastify.inject({ url: '/api/v3/projects//?search=a//b', headers })
    t.match(list.headers.link, 'search=a//b', 'a query keeps its slashes')
    t.match(list.headers.link, '/api/v3/projects')
  })

  t.test('OPTIONS of a path whose last word is a verb for some methods names all methods', async t => {
    const url = `/api/v3/projects/${project.id}/repository/branches/x/protect`
    const res = await app.fastify.inject({ method: 'OPTIONS', url, headers })
    t.equal(res.statusCode, 204)
    t.equal(res.headers.allow, 'DELETE, GET, HEAD, PUT')
  })

  t.test('an unknown path, and a known one with another verb', async t => {
    const unknown = await get('/no/such/thing')
    t.equal(unknown.statusCode, 404)
    t.same(unknown.json(), { error: '404 Not Found' })
    const browser = { accept: 'text/html,*/*;q=0.8' }
    const link = await app.fastify.inject({ url: '/ada/engine/issues/1', headers: browser })
    t.equal(link.statusCode, 404)
    t.match(link.body, 'The page does not exist, or you may not see it')
    const program = await app.fastify.inject({ url: '/api/v3/no/such/thing', headers: { ...headers, ...browser } })
    t.same(program.json(), { error: '404 Not Found' })
    for (const [method, url] of [
      ['PUT', '/projects'],
      ['DELETE', '/users'],
      ['PATCH', `/projects/${project.id}`],
      ['POST', '/bgjobs/job_stats']
    ] as const) {
      const res = await app.fastify.inject({ method, url: `/api/v3${url}`, headers })
      t.equal(res.statusCode, 405, `${method} ${url}`)
      t.same(res.json(), { error: '405 Not Allowed' })
      t.match(res.headers.allow, /\bGET, HEAD\b/)
    }
  })

  t.test('the methods of a list do not include those of a record whose path looks alike', async t => {
    for (const [url, allow] of [
      ['/groups/owned', 'GET, HEAD'],
      ['/projects/starred/', 'GET, HEAD'],
      ['/groups/5', 'DELETE, GET, HEAD, PUT']
    ] as const) {
      t.equal((await app.fastify.inject({ method: 'PATCH', url: `/api/v3${url}`, headers })).headers.allow, allow, url)
    }
  })

  t.test('errors are JSON, and reveal no internals', async t => {
    for (const url of ['/no/such', '/projects/0', '/hooks', '/projects?page=x']) {
      const res = await get(url)
      t.match(res.headers['content-type'], /^application\/json/)
      t.notMatch(res.body, /node_modules|select |at .*\.js:/)
      t.notOk(res.headers['x-powered-by'])
    }
  })
})

t.test('pages', async t => {
  const app = await testApp(t)
  const owner = await app.make.user()
  for (let at = 0; at < 5; at++) await app.make.project({ owner })
  const get = (query: string) => app.as(owner).inject({ method: 'GET', url: `/api/v3/projects?${query}` })
  const pages = (headers: object) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => /^x-(total|page|per-page|next|prev)/.test(name)))
  const relations = (link: unknown) =>
    [...String(link).matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url, rel]) => ({ url, rel }))

  t.test('the middle one of three', async t => {
    const res = await get('per_page=2&page=2&sort=asc&search=project')
    t.equal(res.json().length, 2)
    t.same(pages(res.headers), {
      'x-total': '5',
      'x-total-pages': '3',
      'x-per-page': '2',
      'x-page': '2',
      'x-next-page': '3',
      'x-prev-page': '1'
    })
    const links = relations(res.headers.link)
    t.same(
      links.map(({ rel }) => rel),
      ['prev', 'next', 'first', 'last']
    )
    t.ok(
      links.every(({ url }) => url?.includes('sort=asc') && url.includes('search=project')),
      'with the other parameters'
    )
    t.same(
      links.map(({ url }) => /[?&]page=(\d)/.exec(url ?? '')?.[1]),
      ['1', '3', '1', '3']
    )
  })

  t.test('the first and the last one', async t => {
    const first = await get('per_page=3')
    t.match(first.headers, { 'x-prev-page': '', 'x-next-page': '2' })
    t.same(
      relations(first.headers.link).map(({ rel }) => rel),
      ['next', 'first', 'last']
    )
    const last = await get('per_page=3&page=2')
    t.equal(last.json().length, 2)
    t.match(last.headers, { 'x-prev-page': '1', 'x-next-page': '' })
    t.same(
      relations(last.headers.link).map(({ rel }) => rel),
      ['prev', 'first', 'last']
    )
  })

  t.test('together they are the list', async t => {
    const seen: number[] = []
    for (const page of [1, 2, 3, 4, 5, 6]) {
      for (const { id } of (await get(`per_page=1&page=${page}`)).json()) seen.push(id)
    }
    t.equal(new Set(seen).size, 5)
    t.equal(seen.length, 5)
  })

  t.test('an empty list', async t => {
    const res = await get('search=nothing-like-it')
    t.same(res.json(), [])
    t.match(res.headers, { 'x-total': '0', 'x-page': '1', 'x-next-page': '', 'x-prev-page': '' })
  })

  const sizes: [string, string][] = [
    ['', '20'],
    ['per_page=0', '20'],
    ['per_page=100', '100'],
    ['per_page=101', '100'],
    ['per_page=999999999', '100']
  ]
  for (const [query, size] of sizes) {
    t.test(`${query || 'nothing given'} means ${size} items a page`, async t => {
      t.equal((await get(query)).headers['x-per-page'], size)
    })
  }

  t.test('beyond the end is empty', async t => {
    for (const page of ['99', '2147483648', '999999999999999']) {
      const res = await get(`page=${page}`)
      t.equal(res.statusCode, 200, page)
      t.same(res.json(), [])
    }
  })

  t.test('below the beginning is the beginning', async t => {
    for (const page of ['0', '-1']) t.equal((await get(`page=${page}`)).headers['x-page'], '1', page)
  })

  t.test('a value that is not a number', async t => {
    for (const query of [
      'page=abc',
      'page=1.5',
      'page=',
      'page[]=x',
      'page[a]=1',
      'page=1e3',
      'page=99999999999999999999'
    ]) {
      const res = await get(query)
      t.equal(res.statusCode, 400, query)
      t.match(res.json(), { error: 'page is invalid' })
    }
    t.match((await get('per_page=abc')).json(), { error: 'per_page is invalid' })
    t.match((await get('per_page=-1')).json(), { error: 'per_page is invalid' })
  })

  t.test('links contain no secret', async t => {
    const res = await app.nobody.inject({
      method: 'GET',
      url: `/api/v3/projects?private_token=${owner.privateToken}&per_page=2&search=a?b`
    })
    t.equal(res.statusCode, 200)
    t.notMatch(String(res.headers.link), owner.privateToken)
    t.match(String(res.headers.link), /search=a\?b/)
    for (const name of [
      'private%5Ftoken',
      '%70rivate_token',
      'access%5ftoken',
      'private_token[]',
      'private_token[a]'
    ]) {
      const { headers } = await app.nobody.inject({
        method: 'GET',
        url: `/api/v3/projects/visible?${name}=${owner.privateToken}&search=x`
      })
      t.notMatch(String(headers.link), owner.privateToken, name)
    }
  })
})

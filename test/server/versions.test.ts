// Conditional GET, and compression.
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { testApp } from '../helpers/app.js'
import { countStatements } from '../helpers/statements.js'
import t from '../helpers/tap.js'

t.test('the version of an answer', async t => {
  const app = await testApp(t)
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const issues = `/api/v3/projects/${project.id}/issues`
  const { id } = (await owner.post(issues, { title: 'Old' })).json()
  const ask = (url: string, known?: unknown, method: 'GET' | 'HEAD' = 'GET') =>
    owner.inject({ method, url, headers: known === undefined ? {} : { 'if-none-match': String(known) } })

  t.test('a client that has it gets 304, of records and of lists', async t => {
    for (const url of [
      `${issues}/${id}`,
      issues,
      `/api/v3/projects/${project.id}`,
      '/api/v3/user',
      '/api/v3/openapi.json'
    ]) {
      const first = await ask(url)
      t.equal(first.statusCode, 200, url)
      t.match(first.headers.etag, /^W\/"[\w-]{22}(-1)?"$/, url)
      t.equal(first.headers['cache-control'], 'private, no-cache')
      t.match(first.headers.vary, /\bPrivate-Token, Authorization, Cookie, Sudo\b/)
      const again = await ask(url, first.headers.etag)
      t.equal(again.statusCode, 304, url)
      t.equal(again.body, '')
      t.equal(again.headers.etag, first.headers.etag)
      t.equal(again.headers.link, first.headers.link)
      t.notOk('content-type' in again.headers || 'content-length' in again.headers)
      t.equal((await ask(url, first.headers.etag, 'HEAD')).statusCode, 304)
      t.equal((await ask(url, '"other"')).statusCode, 200)
    }
  })

  t.test('of a page changes with the number of pages', async t => {
    const first = `${issues}?sort=asc&per_page=1`
    const { etag } = (await ask(first)).headers
    await owner.post(issues, { title: 'Another' })
    const res = await ask(first, etag)
    t.equal(res.statusCode, 200)
    t.equal(res.headers['x-total'], '2')
  })

  t.test('costs no statement', async t => {
    const { etag } = (await ask(issues)).headers
    const without = await countStatements(() => ask(issues))
    t.equal(await countStatements(() => ask(issues, etag)), without)
  })

  t.test('changes with the record', async t => {
    const { etag } = (await ask(`${issues}/${id}`)).headers
    await owner.put(`${issues}/${id}`, { title: 'New' })
    const res = await ask(`${issues}/${id}`, etag)
    t.equal(res.statusCode, 200)
    t.not(res.headers.etag, etag)
  })

  t.test('does not open a record to a client that may not read it', async t => {
    const { etag } = (await ask(`${issues}/${id}`)).headers
    const stranger = app.as(await app.make.user())
    const headers = { 'if-none-match': String(etag) }
    t.equal((await stranger.inject({ url: `${issues}/${id}`, headers })).statusCode, 404)
    t.equal((await app.nobody.inject({ url: issues, headers: { 'if-none-match': '*' } })).statusCode, 401)
  })

  t.test('failures, writes and pages have none', async t => {
    t.notOk('etag' in (await ask('/api/v3/projects/0')).headers)
    t.notOk('etag' in (await owner.put(`${issues}/${id}`, { title: 'Newer' })).headers)
    const page = await ask('/users/sign_in')
    t.notOk('etag' in page.headers)
    t.equal(page.headers['cache-control'], 'no-store')
  })
})

t.test('compressed answers', async t => {
  const app = await testApp(t)
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const issues = `/api/v3/projects/${project.id}/issues`
  for (let at = 0; at < 3; at++)
    await owner.post(issues, { title: `Number ${at}`, description: 'It does not work. '.repeat(20) })
  const get = (url: string, encoding?: string, headers: Record<string, string> = {}) =>
    owner.inject({ url, headers: encoding === undefined ? headers : { ...headers, 'accept-encoding': encoding } })

  t.test('lists and documents, small and large', async t => {
    for (const url of [issues, '/api/v3/openapi.json']) {
      const plain = await get(url)
      t.notOk(plain.headers['content-encoding'])
      t.match(plain.headers.vary, /\bAccept-Encoding$/)
      for (const [accepted, coding] of [
        ['gzip, deflate, br', 'br'],
        ['gzip', 'gzip'],
        ['GZIP;q=1, br;q=0.5', 'gzip'],
        ['br;q=0, *', 'gzip'],
        ['*', 'br'],
        ['identity', undefined],
        ['gzip;q=0', undefined],
        ['gzip;q=0.0, deflate', undefined],
        ['gzip;q=x', undefined]
      ] as const) {
        const packed = await get(url, accepted)
        t.equal(packed.headers['content-encoding'], coding, accepted)
        t.equal(packed.headers.etag, plain.headers.etag)
        if (coding === undefined) continue
        t.ok(
          packed.rawPayload.length < plain.rawPayload.length / 3,
          `${packed.rawPayload.length} of ${plain.rawPayload.length}`
        )
        t.equal(Number(packed.headers['content-length']), packed.rawPayload.length)
        const unpack = coding === 'br' ? brotliDecompressSync : gunzipSync
        t.equal(unpack(packed.rawPayload).toString(), plain.body)
      }
    }
  })

  t.test('with a small window, because the system clears the memory for it each time', async t => {
    const WINDOW_OF_256_KB = 0b0011
    t.equal(((await get(issues, 'br')).rawPayload[0] ?? 0) & 0b1111, WINDOW_OF_256_KB)
  })

  t.test('neither small ones nor those to HEAD', async t => {
    t.notOk('content-encoding' in (await get('/-/health', 'br')).headers)
    const head = await owner.inject({ method: 'HEAD', url: issues, headers: { 'accept-encoding': 'br' } })
    t.notOk('content-encoding' in head.headers)
  })

  t.test('nothing whose size could reveal a secret', async t => {
    const variables = `/api/v3/projects/${project.id}/variables`
    for (let at = 0; at < 9; at++) await owner.post(variables, { key: `KEY_${at}`, value: 'x'.repeat(200) })
    const secrets = await get(variables, 'br')
    t.ok(secrets.body.length > 1024)
    t.notOk('content-encoding' in secrets.headers, 'records with secrets')
    t.notOk('content-encoding' in (await get(issues, 'br', { cookie: '_service_session=x' })).headers, 'for a session')
    const payload = { title: 'x', description: 'y'.repeat(2000) }
    const written = await owner.inject({ method: 'POST', url: issues, payload, headers: { 'accept-encoding': 'br' } })
    t.equal(written.statusCode, 201)
    t.notOk('content-encoding' in written.headers, 'an answer that repeats the request')
    t.notOk('content-encoding' in (await get('/users/sign_in', 'br')).headers, 'a page with a form')
  })
})

import { config, loadConfig } from '../../../../src/config.js'
import { row, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { testDatabase } from '../../../helpers/database.js'
import t from '../../../helpers/tap.js'

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const URL_OF_HOOK = 'https://hooks.example.org/path?a=b'

t.test('api.system_hook_as_object: POST returns the hook itself', async t => {
  await testDatabase()
  const { home } = config()
  loadConfig({ home, api: { system_hook_as_object: true } })
  t.teardown(() => void loadConfig({ home }))
  const app = await testApp(t)
  const admin = app.as(await app.make.admin())
  const res = await admin.post('/hooks', { url: URL_OF_HOOK })
  t.match([res.statusCode, res.json()], [201, { id: Number, url: URL_OF_HOOK }])
  await admin.delete(`/hooks/${res.json().id}`)
})

t.test('system hooks', async t => {
  const app = await testApp(t)
  const admin = app.as(await app.make.admin())

  t.test('no answer shows the password of a URL, and deliveries use it', async t => {
    const [hook] = (await admin.post('/hooks', { url: 'https://ada:hunter22@hooks.example.org/' })).json()
    const [other] = (await admin.post('/hooks', { url: 'https://a-token@hooks.example.org/' })).json()
    t.equal(hook.url, 'https://ada:redacted@hooks.example.org/')
    t.equal(other.url, 'https://redacted@hooks.example.org/')
    t.notMatch((await admin.get('/hooks')).body, /hunter22|a-token/)
    t.match(await row('select url from hooks where id = ?', [hook.id]), { url: /hunter22/ })
    for (const { id } of [hook, other]) t.notMatch((await admin.delete(`/hooks/${id}`)).body, /hunter22|a-token/)
    t.notMatch((await admin.get('/audit_events')).body, /hunter22|a-token/)
  })

  t.test('the values of the query of a URL are only in the record, not in the audit', async t => {
    const [hook] = (await admin.post('/hooks', { url: 'https://hooks.example.org/in?token=whsec99&n' })).json()
    t.equal(hook.url, 'https://hooks.example.org/in?token=whsec99&n', 'an administrator may edit the hook')
    t.equal((await app.as(await app.make.user()).get('/hooks')).statusCode, 403)
    await admin.delete(`/hooks/${hook.id}`)
    const events = (await admin.get('/audit_events?target_type=hook')).body
    t.match(events, 'https://hooks.example.org/in?token=redacted&redacted')
    t.notMatch(events, /whsec99/)
  })

  t.test('POST returns an array that contains the hook without its token', async t => {
    const res = await admin.post('/hooks', { url: URL_OF_HOOK, token: 'the-secret', id: 99, created_at: 'x' })
    t.equal(res.statusCode, 201)
    const [hook] = res.json()
    t.equal(res.json().length, 1)
    t.same(Object.keys(hook).sort(), [
      'created_at',
      'enable_ssl_verification',
      'id',
      'push_events',
      'tag_push_events',
      'url'
    ])
    t.match(hook, {
      url: URL_OF_HOOK,
      created_at: DATE_TIME,
      push_events: true,
      tag_push_events: false,
      enable_ssl_verification: true
    })
    const stored = await row<{ token_encrypted: Buffer }>('select token_encrypted from hooks where id = ?', [hook.id])
    t.notOk(stored?.token_encrypted.includes('the-secret'), 'and the database does not have it in the clear')
  })

  t.test('POST accepts every flag, as JSON or form', async t => {
    const off = { push_events: false, tag_push_events: true, enable_ssl_verification: false }
    t.match((await admin.post('/hooks', { url: URL_OF_HOOK, ...off })).json(), [off])
    const form = await admin.inject({
      method: 'POST',
      url: '/api/v3/hooks?tag_push_events=1',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'url=http%3A%2F%2Fx.example.org%2F&push_events=off'
    })
    t.match(form.json(), [{ url: 'http://x.example.org/', push_events: false, tag_push_events: true }])
  })

  t.test('POST refuses URLs that deliveries cannot use', async t => {
    for (const url of ['ftp://x', 'javascript:alert(1)', 'nowhere', 'http://', 'file:///etc/passwd', '//x']) {
      const res = await admin.post('/hooks', { url })
      t.equal(res.statusCode, 422, url)
      t.match(res.json(), { error: 'Invalid url given' })
    }
    t.match((await admin.post('/hooks', {})).json(), {
      error: 'url is missing',
      message: '400 (Bad request) "url" not given'
    })
    t.equal((await admin.post('/hooks', { url: '' })).statusCode, 400)
    t.equal((await admin.post('/hooks', { url: ['http://x'] })).statusCode, 400)
    t.equal((await admin.post('/hooks', { url: `http://x/${'y'.repeat(2000)}` })).statusCode, 400)
    t.equal((await admin.post('/hooks', { url: URL_OF_HOOK, push_events: 'perhaps' })).statusCode, 400)
  })

  t.test('GET lists all hooks, oldest first, without pages', async t => {
    const res = await admin.get('/hooks')
    t.equal(res.statusCode, 200)
    const ids = res.json().map(({ id }: { id: number }) => id)
    t.same(
      ids,
      [...ids].sort((a, b) => a - b)
    )
    t.equal(ids.length, 3)
    t.notOk(res.headers['x-total'])
  })

  t.test('GET of one hook sends and returns the sample payload', async t => {
    const [{ id }] = (await admin.get('/hooks')).json()
    const res = await admin.get(`/hooks/${id}`)
    t.equal(res.statusCode, 200)
    t.same(Object.keys(res.json()).sort(), ['event_name', 'name', 'owner_email', 'owner_name', 'path', 'project_id'])
    t.equal(res.json().event_name, 'project_create')
    const deliveries = await rows<{ payload: string }>('select payload from hook_deliveries where hook_id = ?', [id])
    t.same(JSON.parse(deliveries[0]?.payload ?? '{}'), res.json())
  })

  t.test('DELETE returns the hook with all its attributes', async t => {
    const [{ id }] = (await admin.get('/hooks')).json()
    const res = await admin.delete(`/hooks/${id}`)
    t.equal(res.statusCode, 200)
    t.match(res.json(), {
      id,
      url: URL_OF_HOOK,
      push_events: true,
      tag_push_events: false,
      note_events: false,
      issues_events: false,
      merge_requests_events: false,
      enable_ssl_verification: true,
      project_id: null,
      service_id: null,
      created_at: DATE_TIME,
      updated_at: DATE_TIME
    })
    t.notOk('token' in res.json())
    t.equal((await admin.delete(`/hooks/${id}`)).statusCode, 404)
    t.notOk((await admin.get('/hooks')).json().some((hook: { id: number }) => hook.id === id))
  })

  t.test('a hook that does not exist is not found', async t => {
    for (const id of ['999999', '0', '4294967296']) {
      const res = await admin.get(`/hooks/${id}`)
      t.equal(res.statusCode, 404, id)
      t.match(res.json().message, /^404 .*not found$/i)
    }
  })
})

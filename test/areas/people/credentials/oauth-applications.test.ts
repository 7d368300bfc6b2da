import { MOST_APPLICATIONS } from '../../../../src/areas/people/credentials/oauth-applications.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { tokenHash } from '../../../../src/secrets.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, formIn, listen } from '../../../helpers/browser.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const root = await app.make.admin()
const PATH = '/applications'
const body = { name: 'board', redirect_uri: 'https://board.example.org/callback' }

t.test('POST /applications registers an application, and shows its secret only this once', async t => {
  const res = await app.as(root).post(PATH, { ...body, scopes: ['read_user', 'api', 'api'] })
  t.equal(res.statusCode, 201)
  const { secret, ...shown } = res.json()
  t.match(shown, {
    application_id: /^[0-9a-f]{64}$/,
    application_name: 'board',
    callback_url: body.redirect_uri,
    scopes: ['read_user', 'api'],
    confidential: true,
    user_id: null
  })
  t.match(secret, /^[0-9a-f]{64}$/)
  t.same((await app.as(root).get(PATH)).json()[0], shown)
  const kept = await row<{ secret_hash: Buffer }>('select * from oauth_applications where id = ?', [shown.id])
  t.same(kept?.secret_hash, tokenHash(secret))
  const [event] = await rows<{ changes: string }>("select * from audit_events where action = 'application.create'")
  t.match(event, { actor_name: root.username, via: 'private', target_id: String(shown.id), target_name: 'board' })
  t.notMatch(event?.changes, secret)
})

t.test('POST /applications takes several redirect URIs, and refuses wrong ones', async t => {
  const post = async (redirect_uri: unknown, more: object = {}) =>
    app.as(root).post(PATH, { ...body, redirect_uri, ...more })
  const uris = ['https://a.example/cb?x=1', 'http://localhost:8080/cb', 'http://[::1]/', 'org.example.phone:/cb']
  t.equal((await post(` ${uris.join(' \r\n')} ${uris[0]}\n`)).json().callback_url, uris.join('\n'))
  const wrong = [
    ' ',
    '/callback',
    'board.example.org',
    'https:board.example.org',
    'https:///cb',
    'https://a.example/#part',
    'https://me:secret@a.example/',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'urn:ietf:wg:oauth:2.0:oob',
    'https://exämple.org/',
    'https://a.example/\\evil',
    `https://a.example/${'x'.repeat(2000)}`,
    Array.from({ length: 21 }, (_, at) => `https://a.example/${at}`).join(' ')
  ]
  for (const uri of wrong) {
    const res = await post(uri)
    t.equal(res.statusCode, 400, uri)
    t.match(res.json(), { message: { redirect_uri: [/./] } }, uri)
  }
  for (const [more, expected] of [
    [{ name: '' }, { error: 'name is empty' }],
    [{ name: ' ' }, { message: { name: ["can't be blank"] } }],
    [{ name: ['x'] }, { error: 'name is invalid' }],
    [{ scopes: ['sudo'] }, { error: 'scopes does not have a valid value' }],
    [{ scopes: [] }, { error: 'scopes is invalid' }],
    [{ confidential: 'perhaps' }, { error: 'confidential is invalid' }]
  ] as const) {
    const res = await post('https://a.example/', more)
    t.equal(res.statusCode, 400, JSON.stringify(more))
    t.match(res.json(), expected)
  }
  t.match((await app.as(root).post(PATH, {})).json(), { error: 'name is missing, redirect_uri is missing' })
  t.match((await post({ a: 'x' })).json(), { error: 'redirect_uri is invalid' })
})

t.test('DELETE /applications/:id', async t => {
  const { id, secret, ...made } = (await app.as(root).post(PATH, body)).json()
  const res = await app.as(root).delete(`${PATH}/${id}`)
  t.equal(res.statusCode, 200)
  t.same(res.json(), { id, ...made })
  t.ok(secret)
  t.match((await app.as(root).delete(`${PATH}/${id}`)).json(), { message: '404 Application Not Found' })
  t.match(await row("select * from audit_events where action = 'application.delete' order by id desc limit 1"), {
    actor_name: root.username,
    target_id: String(id)
  })
})

t.test('GET /applications has pages', async t => {
  await execute('delete from oauth_applications')
  for (const name of ['one', 'two', 'three']) await app.as(root).post(PATH, { ...body, name })
  const res = await app.as(root).get(PATH, { per_page: 2 })
  t.same(
    res.json().map(({ application_name }: { application_name: string }) => application_name),
    ['three', 'two']
  )
  t.equal(res.headers['x-total'], '3')
})

t.test('a user has a limited number of applications', async t => {
  const base = await listen(app.fastify)
  const user = await app.make.user()
  const values = Array.from(
    { length: MOST_APPLICATIONS },
    () => "(sha2(uuid(), 256), '', 'x', 'x:', 'api', ?, now(), now())"
  )
  await execute(
    `insert into oauth_applications (uid, secret_hash, name, redirect_uris, scopes, user_id, created_at, updated_at)
     values ${values.join(', ')}`,
    values.map(() => user.id)
  )
  const browser = new Browser(base)
  await browser.signIn(user)
  const page = await browser.get('/profile/applications')
  t.ok(formIn(page.body, 'Register application'))
  const res = await browser.submit(page, 'Register application', body)
  t.equal(res.status, 400)
  t.match(res.body, `a user has at most ${MOST_APPLICATIONS} applications`)
})

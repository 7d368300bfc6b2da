// Attaching files to texts, without the script.
import { testApp } from '../../../helpers/app.js'
import { listen, send } from '../../../helpers/browser.js'
import t from '../../../helpers/tap.js'
import { browserOf } from '../planning/people.js'

const app = await testApp(t)
const base = await listen(app.fastify)

t.test('a file is stored, and its Markdown is shown', async t => {
  const project = await app.make.project()
  const browser = await browserOf(base, project.owner)
  const path = `/${project.path}/uploads/new`
  t.match((await browser.get(path)).body, 'enctype="multipart/form-data"')
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const post = (headers: Record<string, string>, name = 'notes "<b>".txt') => {
    const body = new FormData()
    body.append('file', new File(['one'], name))
    return send(base, 'POST', path, { body, headers: { cookie, ...headers } })
  }
  const stored = await post({ origin: base })
  t.equal(stored.status, 201)
  const [, file = ''] = /\(\/(uploads\/[^)]*)\)/.exec(stored.body) ?? []
  t.equal((await browser.get(`/${project.path}/${file}`)).body, 'one')
  t.notMatch(stored.body, '<b>')
  t.not((await post({ origin: 'https://elsewhere.example' })).status, 201)
  t.not((await post({})).status, 201, 'without proof that our page sends it')
  t.equal((await send(base, 'POST', path, { headers: { cookie, origin: base } })).status, 400)
  const stranger = await browserOf(base, await app.make.user())
  const theirs = [...stranger.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  t.equal((await post({ origin: base, cookie: theirs })).status, 404)
  t.equal((await post({ origin: base, cookie: '' })).status, 401)
  t.equal((await stranger.get(path)).status, 404)
})

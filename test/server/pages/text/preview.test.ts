// The preview of a text shows what the note would show to its author.
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const project = await app.make.project()
const stranger = await app.make.user()
await app.as(project.owner).post(`/projects/${project.id}/issues`, { title: 'Secret' })

async function browserOf(user: { username: string; password: string }) {
  const browser = new Browser(base)
  await browser.signIn(user)
  const [, token = ''] = /name="authenticity_token" value="([^"]*)"/.exec((await browser.get('/explore')).body) ?? []
  const preview = (text: string, query = '', fields = {}) =>
    browser.post(`/markdown/preview?project=${project.path}${query}`, {
      authenticity_token: token,
      preview: 'note',
      note: text,
      ...fields
    })
  return { browser, preview }
}

t.test('a preview is a page, and for the script a part of a page', async t => {
  const { preview } = await browserOf(project.owner)
  const page = await preview('**bold** #1')
  t.equal(page.status, 200)
  t.match(page.body, /<h1>Preview<\/h1>.*<strong>bold<\/strong> <a href="\/[^"]*\/issues\/1" title="Secret">#1<\/a>/s)
  const part = await preview('**bold** <script>', '&part=1')
  t.match(part.body.trim(), /^<div class="box text"><div class="body"><p><strong>bold<\/strong> &lt;script&gt;<\/p>/)
  t.match((await preview('', '&part=1')).body, 'There is nothing to preview yet.')
  t.match((await preview('x', '', { preview: 'description', description: '*other*' })).body, '<em>other</em>')
})

t.test('a preview shows nothing of a hidden project', async t => {
  const { preview } = await browserOf(stranger)
  t.match((await preview('x #1')).body, '<p>x #1</p>')
})

t.test('only forms of our pages get a preview', async t => {
  const { browser, preview } = await browserOf(stranger)
  t.equal(
    (await browser.post('/markdown/preview', { preview: 'note', note: 'x' }, { 'sec-fetch-site': 'cross-site' }))
      .status,
    403
  )
  t.equal((await preview('x', '', { authenticity_token: 'x' })).status, 409, 'an old page')
  t.equal((await new Browser(base).post('/markdown/preview', { preview: 'note', note: 'x' })).status, 401)
  t.match((await preview('x', '', { preview: 'constructor' })).body, 'There is nothing to preview yet.')
})

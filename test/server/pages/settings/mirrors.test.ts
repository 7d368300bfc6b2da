// The pages of mirrors: what masters enter and see, and that the pages never show a secret again.
import { execute } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import t from '../../../helpers/tap.js'

t.test('mirrors are added, confirmed, run and removed on pages', async t => {
  const app = await testApp(t)
  const base = await listen(app.fastify)
  const project = await app.make.project()
  const browser = new Browser(base)
  await browser.signIn(project.owner)
  const path = `/${project.path}/settings/mirrors`
  const empty = await browser.get(path)
  t.match(empty.body, /The project has no mirrors/)
  const wrong = await browser.submit(empty, 'Add the mirror', {
    url: 'file:///etc',
    direction: 'push',
    patterns: 'main'
  })
  t.equal(wrong.status, 400)
  t.match(wrong.body, /must be an http, https or ssh URL/)
  t.match(wrong.body, /file:\/\/\/etc/, 'what was entered stays')

  const url = 'https://git.example.org/<b>.git'
  const pulled = await browser.submit(empty, 'Add the mirror', { url, direction: 'pull', password: 'a secret word' })
  t.equal(pulled.status, 201)
  const token = /token of the hook is <code>([^<]{20})<\/code>/.exec(pulled.body)?.[1]
  t.ok(token)
  t.notMatch(pulled.body, /secret word|<b>\.git/)
  const list = await browser.get(path)
  const [, own = ''] = /href="([^"]+\/settings\/mirrors\/\d+)"/.exec(list.body) ?? []
  const page = await browser.get(own)
  t.notMatch(page.body, token ?? 'no token')
  const renewed = await browser.submit(page, `${own}/hook_token`)
  t.match(renewed.body, /token of the hook is/)

  const added = await browser.submit(list, 'Add the mirror', {
    url: 'git@git.example.org:a.git',
    direction: 'push',
    patterns: 'main'
  })
  t.equal(added.status, 303)
  const ssh = added.location ?? ''
  const before = await browser.get(ssh)
  t.match(before.body, /ssh-ed25519 /)
  t.match(before.body, /not confirmed yet/)
  const seen = `SHA256:${'y'.repeat(43)}`
  await execute(
    `update mirrors set seen_host_key = ?, result = 'partial', error = '<script>', ref_results = ? where public_key is not null`,
    [seen, JSON.stringify([{ ref: 'refs/heads/<i>', status: 'diverged', reason: '<u>' }])]
  )
  const shown = await browser.get(ssh)
  t.notMatch(shown.body, /<script>|<i>|<u>/)
  t.equal((await browser.submit(shown, `${ssh}/host_key`)).status, 303)
  const confirmed = await browser.get(ssh)
  t.match(confirmed.body, /, confirmed/)
  t.notMatch(confirmed.body, /Confirm this host key/)
  t.equal((await browser.submit(confirmed, 'Save', { patterns: '', interval: '30' })).status, 303)
  t.match((await app.as(project.owner).get(`/projects/${project.id}/remote_mirrors`)).json(), [
    { branch_patterns: [], interval: 30, ssh_host_key: seen }
  ])
  t.equal((await browser.submit(confirmed, `${ssh}/sync`)).status, 303)
  t.equal((await browser.submit(confirmed, `${ssh}/delete`)).status, 303)
  t.equal((await browser.get(ssh)).status, 404)
})

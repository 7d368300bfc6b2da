// The pages of services: what masters see and change, in the browser as over the API.
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const project = await app.make.project()
const browser = new Browser(base)
await browser.signIn(project.owner)
const path = `/${project.path}/settings/services`
const service = async (slug: string) =>
  (await app.as(project.owner).get(`/projects/${project.id}/services/${slug}`)).json()

t.test('a service is switched on, changed and switched off', async t => {
  const list = await browser.get(path)
  for (const title of [
    'Emails on push',
    'Builds emails',
    'Pipelines emails',
    'External Wiki',
    'Custom Issue Tracker'
  ]) {
    t.match(list.body, title)
  }
  t.notMatch(list.body, 'Switch off')
  const empty = await browser.get(`${path}/builds-email`)
  t.match(empty.body, /name="notify_only_broken_builds" value="true" checked/)
  t.match(empty.body, /name="add_pusher" value="true">/)
  const sent = await browser.submit(empty, 'Switch on', {
    ...{ recipients: 'ada@example.org\r\nmia@example.org', add_pusher: 'true', notify_only_broken_builds: 'false' }
  })
  t.match([sent.status, sent.location], [303, path])
  t.match(await service('builds-email'), {
    active: true,
    properties: { recipients: 'ada@example.org\nmia@example.org', add_pusher: true, notify_only_broken_builds: false }
  })
  const page = await browser.get(`${path}/builds-email`)
  t.match(page.body, 'ada@example.org\nmia@example.org</textarea>')
  t.match(page.body, /name="notify_only_broken_builds" value="true">/)
  const on = await browser.get(path)
  t.equal((await browser.submit(on, `${path}/builds-email/disable`)).status, 303)
  t.match(await service('builds-email'), { active: false, properties: {} })
})

t.test('a refused value stands in its field again, with the reason', async t => {
  const page = await browser.get(`${path}/emails-on-push`)
  const sent = await browser.submit(page, 'Switch on', { recipients: '"><script>alert(1)</script>' })
  t.equal(sent.status, 400)
  t.match(sent.body, 'id="recipients-error">is invalid')
  t.match(sent.body, '&lt;script&gt;alert(1)&lt;/script&gt;</textarea>')
  t.notMatch(sent.body, '<script>alert')
  t.match(
    (await browser.submit(page, 'Switch on', { recipients: '' })).body,
    'id="recipients-error">can&#39;t be blank'
  )
  t.match(await service('emails-on-push'), { active: false })
})

t.test('an emptied title is removed', async t => {
  const page = await browser.get(`${path}/custom-issue-tracker`)
  const urls = {
    new_issue_url: 'https://tracker.example.org/new',
    issues_url: 'https://tracker.example.org/:id',
    project_url: 'https://tracker.example.org/'
  }
  await browser.submit(page, 'Switch on', { ...urls, title: 'Tracker' })
  t.match(await service('custom-issue-tracker'), { title: 'Tracker', properties: urls })
  await browser.submit(await browser.get(`${path}/custom-issue-tracker`), 'Save', { title: '' })
  t.match(await service('custom-issue-tracker'), { title: 'Custom Issue Tracker', properties: urls })
})

t.test('there are no other services', async t => {
  t.equal((await browser.get(`${path}/telegraph`)).status, 404)
})

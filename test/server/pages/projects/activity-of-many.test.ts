// The activity of several projects, and that of a user, shows each reader what the projects themselves would show.
import { GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { codePages } from '../code/repository.js'

const { app, signedIn, nobody } = await codePages(t)
const ada = await app.make.user()
const group = await app.make.group({ owner: ada, visibilityLevel: 20 })

async function busy(visibility_level: 0 | 10 | 20) {
  const project = await app.make.project({ owner: ada, group, visibility_level })
  await app.make.file(project, 'a.txt', 'a')
  const owner = app.as(ada)
  await owner.post(`/projects/${project.id}/issues`, { title: `Open ${project.id}` })
  await owner.post(`/projects/${project.id}/issues`, { title: `Secret ${project.id}`, confidential: true })
  await app.runJobs()
  return project
}

const [hidden, internal] = [await busy(0), await busy(10)]

t.test('events of all projects stand together', async t => {
  const owner = await signedIn(ada)
  for (const page of ['/', '/dashboard/activity', `/groups/${group.path}/activity`, `/${ada.username}`]) {
    const { status, body } = await owner.get(page)
    t.equal(status, 200, page)
    for (const { id, path } of [hidden, internal]) {
      t.match(body, `>#1 Open ${id}</a>`, page)
      t.match(body, `Secret ${id}`)
      t.match(body, `<span class="soft">in</span> <a href="/${path}">`)
    }
  }
  for (const feed of ['/dashboard/activity.atom', `/groups/${group.path}/activity.atom`, `/${ada.username}.atom`]) {
    const { status, headers, body } = await owner.get(feed)
    t.equal(status, 200, feed)
    t.match(headers.get('content-type'), 'application/atom+xml')
    t.match(body, `Open ${hidden.id}</title>`)
    t.match(body, new RegExp(`<link href="http[^"]*/${internal.path}/issues/1"/>`))
  }
})

t.test('readers see as much of it as the API shows them', async t => {
  const stranger = await signedIn(await app.make.user())
  for (const page of [`/groups/${group.path}/activity`, `/${ada.username}`, `/${ada.username}.atom`]) {
    const { body } = await stranger.get(page)
    t.match(body, `Open ${internal.id}`, page)
    t.notMatch(body, new RegExp(`Secret|Open ${hidden.id}`), page)
  }
  t.equal((await nobody.get(`/${ada.username}`)).status, 404)
  const guest = await signedIn(await app.make.member(hidden, GUEST))
  const shown = (await guest.get('/dashboard/activity')).body
  t.match(shown, `Open ${hidden.id}`)
  t.notMatch(shown, /Secret|pushed/, 'guests read neither code nor confidential issues')
  const reporter = await signedIn(await app.make.member(hidden, REPORTER))
  t.match((await reporter.get('/dashboard/activity')).body, /Secret.*pushed/s)
  t.equal((await nobody.get('/dashboard/activity')).status, 404)
})

t.test('it says when nothing has happened, and more projects need no more statements', async t => {
  const newcomer = await app.make.user()
  const browser = await signedIn(newcomer)
  t.match((await browser.get('/dashboard/activity')).body, 'Nothing has happened here yet')
  t.match((await browser.get('/')).body, 'Nothing has happened in your projects yet')
  t.match((await browser.get(`/${newcomer.username}`)).body, 'There is no activity that you can see')
  const owner = await signedIn(ada)
  const page = `/groups/${group.path}/activity`
  await owner.get(page)
  const few = await countStatements(() => owner.get(page))
  await busy(20)
  await owner.get(page)
  t.equal(await countStatements(() => owner.get(page)), few)
})

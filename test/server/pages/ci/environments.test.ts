// The pages of environments.
import { DEVELOPER, GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { fillWithDeployment, makeEnvironment } from '../../../areas/ci/environments/make-environments.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)

async function signedIn(user: { username: string; password: string }): Promise<Browser> {
  const browser = new Browser(base)
  await browser.signIn(user)
  return browser
}

t.test('environments are listed with their last deployment, and stopped', async t => {
  const project = await app.make.project()
  const list = `/${project.path}/environments`
  const owner = await signedIn(project.owner)
  t.match((await owner.get(list)).body, 'There are no environments yet')
  await fillWithDeployment(project)
  const listed = await owner.get(list)
  t.match(listed.body, /of master, <time/)
  const [, page = ''] = /href="([^"]+\/environments\/\d+)">staging/.exec(listed.body) ?? []
  const shown = await owner.get(page)
  t.match(shown.body, '<b>#1</b>')
  t.match(shown.body, /state good">success<\/span> <a href="[^"]+\/builds\/\d+">job #\d+/)
  const stopped = await owner.submit(shown, `${page}/stop`)
  t.match([stopped.status, stopped.location], [303, page])
  const after = await owner.get(page)
  t.match(after.body, '<span class="state idle">stopped</span>')
  t.notMatch(after.body, `${page}/stop`)
  for (let count = 0; count < 5; count++) await makeEnvironment(project, `more-${count}`)
  const few = await countStatements(() => owner.get(`${list}?per_page=1`))
  t.equal(await countStatements(() => owner.get(`${list}?per_page=100`)), few)
})

t.test('who may create, stop and delete one sees the forms for it', async t => {
  const project = await app.make.project()
  const list = `/${project.path}/environments`
  const page = `${list}/${await makeEnvironment(project, 'review/<b>')}`
  const developer = await signedIn(await app.make.member(project, DEVELOPER))
  const form = await developer.get(list)
  t.match(form.body, 'review/&lt;b&gt;')
  const wrong = await developer.submit(form, 'name="name"', { name: 'a<b', external_url: 'javascript:alert(1)' })
  t.equal(wrong.status, 400)
  t.match(wrong.body, /id="name-error">Name can contain only/)
  t.match(wrong.body, /id="external_url-error">Address of the application is not an http/)
  t.match(wrong.body, 'value="a&lt;b"')
  t.match((await developer.submit(form, 'name="name"', { name: 'live' })).location, /\/environments\/\d+$/)
  t.match(
    (await developer.submit(await developer.get(list), 'name="name"', { name: 'live' })).body,
    'has already been taken'
  )
  t.match((await developer.get(page)).body, `${page}/stop`)
  t.notMatch((await developer.get(page)).body, `${page}/delete`)

  const reporter = await signedIn(await app.make.member(project, REPORTER))
  const read = (await reporter.get(page)).body + (await reporter.get(list)).body
  t.notMatch(read, /<form method="post" action="[^"]*environments/)
  const guest = await signedIn(await app.make.member(project, GUEST))
  t.equal((await guest.get(page)).status, 404)

  const owner = await signedIn(project.owner)
  t.equal((await owner.submit(await owner.get(page), `${page}/delete`)).location, list)
  t.equal((await owner.get(page)).status, 404)
})

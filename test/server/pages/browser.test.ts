// The pages in a real browser: what works there, and what hostile names do. looks.test.ts shows how they look.
//
// `SCREENSHOTS=FOLDER npm test -- test/server/pages/browser.test.ts` also writes a picture of each hostile page into the folder.
import t from 'tap'
import { finishBuild } from '../../../src/areas/ci/builds/claim.js'
import { measureTrace } from '../../../src/storage/measure.js'
import { appendTrace } from '../../../src/storage/traces.js'
import { beginBuild, makePipeline } from '../../areas/ci/builds/make-builds.js'
import { testApp } from '../../helpers/app.js'
import { Browser, listen } from '../../helpers/browser.js'
import { chromium, excessWidth, openPage } from '../../helpers/chromium.js'
import { pagesOf } from '../../helpers/route-configs.js'
import { makeSpecimens, OTHER, PAGES } from './every-page.js'

t.test('pages in a browser', async t => {
  const app = await testApp(t)
  const base = await listen(app.fastify)
  const browser = await chromium(t)
  const user = await app.make.user()

  t.test('a user signs in, with and without the script', async t => {
    for (const script of [true, false]) {
      const { page, problems, close } = await openPage(browser, base, { script })
      await page.goto(`${base}/users/sign_in`)
      await page.type('[name=login]', user.username)
      await page.type('[name=password]', user.password)
      await Promise.all([page.waitForNavigation(), page.click('main button')])
      t.match(await page.$eval('.account summary', element => element.textContent), user.username)
      t.same(problems, [])
      await close()
    }
  })

  t.test('the output of a build appears as it comes, and then its end', async t => {
    const project = await app.make.project({ owner: user })
    const [build] = await makePipeline(project, 'job: { script: x }\n')
    if (!build) throw new Error('no build')
    const claim = await beginBuild(build)
    const key = { build: build.id, attempt: claim.attempt }
    await appendTrace(key, Buffer.from('section_start:1:a\r\x1b[0KThe section\nfirst\n'))
    const { page, problems, close } = await openPage(browser, base, { user })
    const pipeline = await openPage(browser, base, { user })
    await pipeline.page.goto(`${base}/${project.path}/pipelines/${build.pipelineId}`)
    await page.goto(`${base}/${project.path}/builds/${build.id}`)
    const line = (number: number, text: string) =>
      page.waitForFunction(`document.getElementById('L${number}')?.textContent === '${number}${text}'`)
    await appendTrace(key, Buffer.from('in <b>it</b>\nsection_end:5:a\r\x1b[0K\nout of it\nhal'))
    await line(3, 'in <b>it</b>')
    t.ok(await page.$('details > #L3'))
    t.ok(await page.$('.trace > #L5'))
    t.equal(await page.$eval('#end', element => element.textContent), '6hal')
    await appendTrace(key, Buffer.from('f\n'))
    await line(6, 'half')
    await finishBuild(claim, { status: 'success' }, await measureTrace(key))
    await page.waitForFunction(`document.querySelector('.state').textContent === 'success'`)
    await pipeline.page.waitForFunction(`document.querySelector('.state').textContent === 'success'`)
    t.same([...problems, ...pipeline.problems], [])
    await Promise.all([close(), pipeline.close()])
  })

  const specimens = await makeSpecimens(app)
  const { SCREENSHOTS: folder } = process.env

  t.test('the table has every kind of page', async t => {
    const paths = Object.values(PAGES).map(pathOf => pathOf(specimens).replace(/[?#].*/, ''))
    const open = pagesOf(app.fastify, 'GET').filter(route => {
      const pattern = new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+').replace('/*', '/.+')}$`)
      return !OTHER.some(other => other.test(route)) && !paths.some(path => pattern.test(path))
    })
    t.same(open, [], 'add a line to PAGES in every-page.ts')
  })

  t.test('every link on every page leads somewhere', async t => {
    const visitor = new Browser(base)
    await visitor.signIn(specimens.user)
    const from = new Map<string, string>()
    for (const [name, pathOf] of Object.entries(PAGES)) {
      const { body } = await visitor.get(pathOf(specimens))
      for (const [, link = ''] of body.matchAll(/ (?:href|src)="(\/[^"#]*)/g)) {
        const path = link.replaceAll('&amp;', '&')
        if (!from.has(path)) from.set(path, name)
      }
    }
    for (const [path, name] of from) {
      const { status } = await visitor.get(path)
      t.ok(status < 400, `${name}: ${path} answers ${status}`)
    }
  })

  t.test('hostile names and texts run nothing, and fit into the window', async t => {
    const hostile = await makeSpecimens(app, { hostile: true })
    const { page, problems, close } = await openPage(browser, base, { user: hostile.user, width: 320 })
    for (const [name, pathOf] of Object.entries(PAGES)) {
      const answer = await page.goto(base + pathOf(hostile))
      t.equal(answer?.status(), 200, name)
      t.ok((await excessWidth(page)) <= 0, `${name}: nothing is wider than the window`)
      t.equal(await page.$('img[src="x"], body script, main svg[onload], a[href^="javascript:"]'), null, name)
      t.same(problems.splice(0), [], name)
      const path: `${string}.webp` = `${folder}/hostile-${name.replaceAll(' ', '-')}.webp`
      if (folder) await page.screenshot({ path, quality: 70 })
    }
    await page.goto(base + (PAGES.issue?.(hostile) ?? ''))
    t.match(await page.$eval('h1', element => element.textContent), /<script>alert\(2\)/, 'what stands there is text')
    await close()
  })
})

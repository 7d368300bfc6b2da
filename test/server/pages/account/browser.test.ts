// The account pages in a real browser. browser.test.ts of all pages holds them to what is accessible.
import t from 'tap'
import { execute } from '../../../../src/db/connect/sql.js'
import { DEVELOPER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { listen } from '../../../helpers/browser.js'
import { chromium, excessWidth, openPage } from '../../../helpers/chromium.js'
import { newKey } from '../../../helpers/ssh-keys.js'

t.test('account pages in a browser', async t => {
  const app = await testApp(t)
  const base = await listen(app.fastify)
  const browser = await chromium(t)
  const user = await app.make.user()
  const project = await app.make.project()
  await app.make.member(project, DEVELOPER, user)
  const api = app.as(user)
  const long = 'x'.repeat(255)
  await api.post('/user/keys', { title: long, key: newKey() })
  await api.post('/user/emails', { email: `${'a'.repeat(60)}@${'b'.repeat(60)}.example.org` })
  await api.post('/personal_access_tokens', { name: long })
  await api.put(`/projects/${project.id}/notification_settings`, { level: 'watch' })
  await app.as(project.owner).post(`/projects/${project.id}/issues`, { title: long, assignee_id: user.id })
  const paths = ['keys', 'emails', 'notifications', 'personal_access_tokens', 'sessions'].map(
    name => `/profile/${name}`
  )
  paths.push('/dashboard/todos')

  t.test('long names fit a phone', async t => {
    const { page, problems, close } = await openPage(browser, base, { user, width: 320 })
    for (const path of paths) {
      await page.goto(base + path)
      t.ok((await excessWidth(page)) <= 0, path)
    }
    t.same(problems, [])
    await close()
  })

  t.test('sessions name their browser, and end on a phone', async t => {
    const [other, phone] = [
      await openPage(browser, base, { user }),
      await openPage(browser, base, { user, width: 320 })
    ]
    await execute('update sessions set user_agent = ?', [await browser.userAgent()])
    await phone.page.goto(`${base}/profile/sessions`)
    t.match(await phone.page.$eval('main .list', list => list.textContent), 'Chrome on Linux')
    t.ok(await phone.page.$eval('main .list button', button => button.getBoundingClientRect().right <= innerWidth))
    await Promise.all([phone.page.waitForNavigation(), phone.page.click('main .list button')])
    t.same(phone.problems, [])
    await Promise.all([other.close(), phone.close()])
  })

  t.test('a key is added with the keyboard', async t => {
    const { page, problems, close } = await openPage(browser, base, { user, script: false })
    await page.goto(`${base}/profile/keys`)
    await page.focus('#key')
    await page.keyboard.type(newKey())
    await page.keyboard.press('Tab')
    await page.keyboard.type('Laptop')
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
    t.match(await page.$eval('main', main => main.textContent), 'Laptop')
    t.same(problems, [])
    await close()
  })
})

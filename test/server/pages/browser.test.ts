// The pages in a real browser.
import t from 'tap'
import { testApp } from '../../helpers/app.js'
import { listen } from '../../helpers/browser.js'
import { axeFindings, chromium, excessWidth, openPage } from '../../helpers/chromium.js'

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

  t.test('the first page fits a phone, light and dark, and is accessible', async t => {
    for (const dark of [false, true]) {
      const { page, problems, close } = await openPage(browser, base, { user, width: 320, dark })
      await page.goto(`${base}/dashboard/projects`)
      t.ok((await excessWidth(page)) <= 0)
      t.same(await axeFindings(page), [])
      t.same(problems, [])
      await close()
    }
  })
})

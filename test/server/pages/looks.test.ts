// How every page looks in a real browser: light, dark, and on a phone. axe-core takes most of the time, so this belongs to
// `npm run test:long`.
//
// `SCREENSHOTS=FOLDER npm test -- test/server/pages/looks.test.ts` also writes a picture of each page into the folder.
import t, { type Test } from 'tap'
import { firstLink } from '../../../src/areas/reach/accounts/first-administrator.js'
import { testApp } from '../../helpers/app.js'
import { listen } from '../../helpers/browser.js'
import {
  axeFindings,
  COLOR_RULES,
  chromium,
  excessWidth,
  type OpenedPage,
  openPage,
  useScheme
} from '../../helpers/chromium.js'
import { makeSpecimens, PAGES } from './every-page.js'

const { SCREENSHOTS: folder } = process.env

t.test('each page is accessible, keeps to its policy, and fits into a window and onto a phone', async t => {
  const app = await testApp(t)
  const base = await listen(app.fastify)
  const browser = await chromium(t)
  // Before there are users.
  const first = await openPage(browser, base)
  const link = new URL((await firstLink())?.url ?? '')
  await look(t, first, 'first run', `${base}/`)
  await look(t, first, 'first administrator', base + link.pathname + link.search)
  await first.close()

  const specimens = await makeSpecimens(app)
  const opened = await openPage(browser, base, { user: specimens.user })
  for (const [name, pathOf] of Object.entries(PAGES)) await look(t, opened, name, base + pathOf(specimens))
  await opened.close()
})

async function look(t: Test, { page, problems }: OpenedPage, name: string, url: string): Promise<void> {
  const picture = async (look: string) => {
    const path: `${string}.webp` = `${folder}/${name.replaceAll(' ', '-')}-${look}.webp`
    if (folder) await page.screenshot({ path, quality: 70 })
  }
  await page.setViewport({ width: 1280, height: 900 })
  await useScheme(page, 'light')
  const answer = await page.goto(url)
  t.equal(answer?.status(), 200, name)
  t.ok((await excessWidth(page)) <= 0, `${name}: nothing is wider than the window`)
  t.same(await axeFindings(page), [], name)
  await picture('light')
  // The same document takes each look, because loading it again takes most of the time.
  await useScheme(page, 'dark')
  t.same(await axeFindings(page, COLOR_RULES), [], `${name}: dark`)
  await picture('dark')
  await page.setViewport({ width: 320, height: 700 })
  t.ok((await excessWidth(page)) <= 0, `${name}: nothing is wider than a phone`)
  await picture('phone')
  t.same(problems.splice(0), [], name)
}

// What the script adds to pages of code, in a real browser.
import t from 'tap'
import { chromium, openPage } from '../../../helpers/chromium.js'
import { codePages, commitOf } from './repository.js'

const { make, base } = await codePages(t)
const browser = await chromium(t)

t.test('ranges of lines are marked, and stay so at the permalink', async t => {
  const { project, path, git } = await make()
  git(['fast-import', '--quiet', '--force'], commitOf({ 'a.txt': 'line\n'.repeat(300) }))
  const { page, problems, close } = await openPage(browser, base, { user: project.owner })
  const marked = () => page.$$eval('.marked', rows => rows.map(({ id }) => id))
  await page.goto(`${base}${path}/blob/master/a.txt#L200-202`)
  t.same(await marked(), ['L200', 'L201', 'L202'])
  t.ok(await page.evaluate('scrollY > 1000'))
  await page.click('a[href="#L203"]')
  t.equal(await page.evaluate('location.hash'), '#L203')
  await page.keyboard.down('Shift')
  await page.click('a[href="#L205"]')
  await page.keyboard.up('Shift')
  t.equal(await page.evaluate('location.hash'), '#L203-205')
  t.same(await marked(), ['L203', 'L204', 'L205'])
  await Promise.all([page.waitForNavigation(), page.click('[data-permalink]')])
  t.equal(page.url(), `${base}${path}/blob/${git(['rev-parse', 'master'])}/a.txt#L203-205`)
  t.same(problems, [])
  await close()
})

t.test('who wrote a line can be read on a phone, and the menu shows where the visitor is', async t => {
  const { project, path, git } = await make()
  git(['fast-import', '--quiet', '--force'], commitOf({ 'a.txt': 'a line that is not very short\n' }))
  const { page, problems, close } = await openPage(browser, base, { user: project.owner, width: 320 })
  await page.goto(`${base}${path}/blame/master/a.txt`)
  const height = await page.$eval('.blame tr', row => row.getBoundingClientRect().height)
  t.ok(height < 60, `a row is ${height} pixels high`)
  await page.goto(`${base}${path}/activity`)
  t.ok(await page.$eval('.menu [aria-current]', link => link.getBoundingClientRect().right <= innerWidth))
  t.same(problems, [])
  await close()
})

t.test('the changes of a large file are loaded into the page', async t => {
  const { project, path, git } = await make()
  git(['fast-import', '--quiet', '--force'], commitOf({ 'a.txt': 'line\n'.repeat(600), 'b.txt': 'x\n' }))
  const { page, problems, close } = await openPage(browser, base, { user: project.owner })
  await page.goto(`${base}${path}/commit/master`)
  t.equal((await page.$$('.diff td.added')).length, 1)
  await page.click('[data-load]')
  await page.waitForFunction(`document.querySelectorAll('.diff td.added').length === 601`)
  t.equal(page.url(), `${base}${path}/commit/master`)
  t.same(problems, [])
  await close()
})

t.test('more context takes the place of a file on the page, step by step', async t => {
  const { project, path, git } = await make()
  const lines = Array.from({ length: 200 }, (_, at) => `line ${at + 1}\n`)
  git(['fast-import', '--quiet', '--force'], commitOf({ 'a.txt': lines.join(''), 'b.txt': 'x\n' }))
  lines[99] = 'line one hundred\n'
  git(['fast-import', '--quiet', '--force'], commitOf({ 'a.txt': lines.join(''), 'b.txt': 'y\n' }))
  const { page, problems, close } = await openPage(browser, base, { user: project.owner })
  await page.goto(`${base}${path}/commit/master`)
  const rows = (count: number) =>
    page.waitForFunction(`document.querySelectorAll('.diff')[0].querySelectorAll('tr:not(.hunk)').length === ${count}`)
  await rows(8)
  await page.click('[data-load]')
  await rows(48)
  await page.click('[data-load]')
  await rows(201)
  t.equal((await page.$$('.diff')).length, 2, 'the other file stays')
  t.equal(page.url(), `${base}${path}/commit/master`)
  t.same(problems, [])
  await close()
})

// What the script does on the pages of a merge request, in a real browser.
import t from 'tap'
import { execute } from '../../../../src/db/connect/sql.js'
import { accept, makeMergeRequest, makeProject } from '../../../areas/planning/merge-requests/make-merge-requests.js'
import { testApp } from '../../../helpers/app.js'
import { listen } from '../../../helpers/browser.js'
import { chromium, openPage } from '../../../helpers/chromium.js'

t.test('merge requests with the script', async t => {
  const app = await testApp(t)
  const base = await listen(app.fastify)
  const browser = await chromium(t)

  t.test('the form for a comment on a line has the focus, and the merge box follows its check', async t => {
    const project = await makeProject()
    const { id, iid } = await makeMergeRequest(project)
    const path = `${base}/${project.path}/merge_requests/${iid}`
    const { page, problems, close } = await openPage(browser, base, { user: project.owner })
    await page.goto(`${path}/diffs`)
    const line = await page.$('.diff a[href*="note="]')
    await Promise.all([page.waitForNavigation(), line?.click()])
    await page.waitForFunction(`document.activeElement.name === 'note'`, { timeout: 10_000 })

    const check = (status: string) => execute('update merge_requests set merge_status = ? where id = ?', [status, id])
    const box = () => page.$eval('#merge-box', element => element.textContent)
    await check('unchecked')
    await page.goto(path)
    t.match(await box(), 'It is being checked')
    await page.click('#merge-box summary')
    await page.type('#merge_commit_message', 'Mine ')
    await page.click('#merge-box summary')
    await check('cannot_be_merged')
    await page.waitForNetworkIdle({ idleTime: 5000 })
    t.match(await page.$eval('textarea#merge_commit_message', field => field.value), 'Mine ')
    await page.reload()
    await check('unchecked')
    await page.reload()
    await check('can_be_merged')
    await page.waitForFunction(`document.querySelector('#merge-box').textContent.includes('merge without conflicts')`)
    t.equal(await page.$('[data-live]'), null)

    const top = () => page.$eval('#merge-state', element => element.textContent)
    await check('unchecked')
    await page.reload()
    t.equal(await top(), 'opened')
    t.ok(await page.$('[name="command"]'))
    await accept(project, id)
    await page.waitForFunction(`document.querySelector('#merge-box').textContent.includes('Merged by')`)
    t.equal(await top(), 'merged', 'the state at the top changes with the box')
    t.equal(await page.$('[name="command"]'), null, 'what is merged cannot be closed')
    t.same(problems, [])
    await close()
  })
})

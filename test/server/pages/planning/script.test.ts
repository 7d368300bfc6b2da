// What the script does on the pages of issues and boards, in a real browser.
import t from 'tap'
import { execute } from '../../../../src/db/connect/sql.js'
import { DEVELOPER } from '../../../../src/lib/levels.js'
import { makeIssue } from '../../../areas/planning/discussion/make-discussion.js'
import { testApp } from '../../../helpers/app.js'
import { listen } from '../../../helpers/browser.js'
import { chromium, openPage } from '../../../helpers/chromium.js'

t.test('issues and boards with the script', async t => {
  const app = await testApp(t)
  const base = await listen(app.fastify)
  const browser = await chromium(t)
  const project = await app.make.project()
  const user = project.owner
  const api = app.as(user)
  const id = await makeIssue(project, user, { title: 'One' })
  const issue = `${base}/${project.path}/issues/1`
  const values = Array.from({ length: 150 }, (_, at) => [project.id, 'Issue', id, user.id, `number ${at}.`])
  const { insertId: first } = await execute(
    `insert into notes (project_id, noteable_type, noteable_id, author_id, note, created_at, updated_at)
     values ${values.map(() => '(?, ?, ?, ?, ?, now(3), now(3))').join(', ')}`,
    values.flat()
  )

  t.test('a link to a note on an earlier page leads there, with and without the script', async t => {
    const { page, problems, close } = await openPage(browser, base, { user })
    await page.goto(`${issue}#note_${first}`)
    await page.waitForFunction(`location.search === '?page=1'`)
    t.equal(await page.$eval(`article#note_${first} .text`, element => element.textContent?.trim()), 'number 0.')
    t.same(problems, [])
    await close()
    const plain = await openPage(browser, base, { user, script: false })
    await plain.page.goto(`${issue}#note_${first}`)
    await Promise.all([plain.page.waitForNavigation(), plain.page.click(`a#note_${first}`)])
    t.equal(plain.page.url(), `${issue}?page=1#note_${first}`)
    await plain.close()
  })

  t.test('a comment is kept until it is sent, and shown before', async t => {
    const { page, problems, close } = await openPage(browser, base, { user })
    await page.goto(issue)
    await page.type('textarea[name=note]', 'It is *kept*')
    await page.reload()
    t.equal(await page.$eval('textarea[name=note]', field => field.value), 'It is *kept*')
    await page.click('[data-preview]')
    await page.waitForSelector('[aria-live] em')
    const comment = await page.$('form:has(textarea) .main')
    await Promise.all([page.waitForNavigation(), comment?.click()])
    t.match(page.url(), /#note_\d+$/)
    t.equal(await page.$eval('textarea[name=note]', field => field.value), '')
    t.equal(await page.$eval(':target em', element => element.textContent), 'kept')
    t.same(problems, [])
    await close()
  })

  t.test('texts of both directions begin at their own side, and turn nothing else around', async t => {
    const turned = await makeIssue(project, user, {
      title: '\u05e9\u05dc\u05d5\u05dd world',
      description: 'Left\n\n\u05e9\u05dc\u05d5\u05dd'
    })
    const { iid } = (await api.get(`/projects/${project.id}/issues/${turned}`)).json()
    await makeIssue(project, user, { title: 'safe \u202egnp.exe' })
    const { page, close } = await openPage(browser, base, { user })
    await page.goto(`${base}/${project.path}/issues/${iid}`)
    /** The space before and after the text of an element, in pixels. */
    const spaces = (selector: string) =>
      page.$eval(selector, element => {
        const range = document.createRange()
        range.selectNodeContents(element)
        const [text, box] = [range.getBoundingClientRect(), element.getBoundingClientRect()]
        return { left: Math.round(text.left - box.left), right: Math.round(box.right - text.right) }
      })
    t.equal((await spaces('h1')).right, 0, 'a title whose first letter is Hebrew begins at the right')
    t.equal((await spaces('.text p:first-child')).left, 0)
    t.equal((await spaces('.text p:last-child')).right, 0)
    await page.goto(`${base}/${project.path}/issues/${iid + 1}`)
    t.equal((await spaces('h1')).left, 0)
    const text = await page.$eval('main', element => element.textContent)
    t.notMatch(text, '\u202e', 'the mark that turns a line around is shown as text')
    t.match(text, 'gnp.exe')
    await close()
  })

  t.test('what a user has not sent is never shown to the next one', async t => {
    const other = await app.make.user()
    await app.make.member(project, DEVELOPER, other)
    const { page, problems, close } = await openPage(browser, base, { user })
    await page.goto(issue)
    await page.type('textarea[name=note]', 'It is mine')
    const context = page.browserContext()
    await context.deleteCookie(...(await context.cookies()))
    await page.goto(`${base}/users/sign_in`)
    await page.type('[name=login]', other.username)
    await page.type('[name=password]', other.password)
    await Promise.all([page.waitForNavigation(), page.click('main button')])
    await page.goto(issue)
    t.equal(await page.$eval('textarea[name=note]', field => field.value), '')
    t.notMatch(await page.evaluate('JSON.stringify(sessionStorage)'), 'mine')
    await page.type('textarea[name=note]', 'It is theirs')
    await page.click('.account summary')
    await Promise.all([page.waitForNavigation(), page.click('[action="/users/sign_out"] button')])
    t.equal(await page.evaluate('JSON.stringify(sessionStorage)'), '{}')
    t.same(problems, [])
    await close()
  })

  t.test('the preview says when the session has ended', async t => {
    const { page, close } = await openPage(browser, base, { user })
    await page.goto(issue)
    await page.type('textarea[name=note]', 'It stays')
    await execute('delete from sessions where user_id = ?', [user.id])
    await page.click('[data-preview]')
    await page.waitForFunction(`document.querySelector('[aria-live]')?.textContent.includes('session has ended')`)
    t.equal(await page.$eval('textarea[name=note]', field => field.value), 'It stays')
    await close()
  })

  t.test('a pasted file is attached', async t => {
    const { page, problems, close } = await openPage(browser, base, { user })
    await page.goto(issue)
    await page.type('textarea[name=note]', 'See ')
    await page.evaluate(`{
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File(['PNG'], 'a screen.png', { type: 'image/png' }))
      document.querySelector('textarea[name=note]').dispatchEvent(new ClipboardEvent('paste', { clipboardData, cancelable: true }))
    }`)
    await page.waitForFunction(`document.querySelector('textarea[name=note]').value.includes('uploads')`)
    const text = await page.$eval('textarea[name=note]', field => field.value)
    t.match(text, /^See !\[a\\_screen\]\(\/uploads\/[0-9a-f]{32}\/a_screen\.png\)\n$/)
    t.same(problems, [])
    await close()
  })

  t.test('a card is dragged to another list', async t => {
    const of = `/projects/${project.id}`
    const { id: label } = (await api.post(`${of}/labels`, { name: 'doing', color: '#ff0000' })).json()
    const [{ id: board }] = (await api.get(`${of}/boards`)).json()
    const { id: list } = (await api.post(`${of}/boards/${board}/lists`, { label_id: label })).json()
    const { page, problems, close } = await openPage(browser, base, { user })
    await page.goto(`${base}/${project.path}/boards`)
    const moved = page.waitForNavigation()
    await page.evaluate(`{
      const dataTransfer = new DataTransfer()
      document.querySelector('[data-card="1"]').dispatchEvent(new DragEvent('dragstart', { dataTransfer }))
      document.querySelector('[data-list="${list}"]').dispatchEvent(new DragEvent('drop', { dataTransfer }))
    }`)
    await moved
    t.ok(await page.$(`[data-list="${list}"] [data-card="1"]`))
    t.match((await api.get(`${of}/issues/${id}`)).json(), { labels: ['doing'] })
    t.same(problems, [])
    await close()
  })
})

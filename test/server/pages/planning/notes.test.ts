// The stream of a discussion and its forms.
import { execute } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST } from '../../../../src/lib/levels.js'
import { readCommitDiscussion } from '../../../../src/server/pages/planning/discussion.js'
import { makeIssue } from '../../../areas/planning/discussion/make-discussion.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { actorOf, projectRow } from '../../../helpers/factory.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { browserOf, tokenOf } from './people.js'

const app = await testApp(t)
const base = await listen(app.fastify)

async function subject(title = 'One') {
  const project = await app.make.project({ visibility_level: 20 })
  const owner = await browserOf(base, project.owner)
  const id = await makeIssue(project, project.owner, { title })
  const api = app.as(project.owner)
  const place = `/${project.path}`
  return { project, owner, id, api, place, path: `${place}/issues/1`, notes: `${place}/notes/issues/${id}` }
}

t.test('a note is written, edited and deleted with forms', async t => {
  const { owner, path, api, project, id, notes } = await subject()
  const page = await owner.get(path)
  t.equal(page.status, 200)
  const made = await owner.submit(page, 'name="note"', { note: 'Well *done*' })
  t.equal(made.status, 303)
  const [, note = ''] = /#note_(\d+)$/.exec(made.location ?? '') ?? []
  t.equal(made.location, `${path}#note_${note}`)
  const shown = await owner.get(path)
  t.match(shown.body, new RegExp(`<article class="box" id="note_${note}">.*Well <em>done</em>`, 's'))
  t.notMatch(shown.body, 'edited')
  const edit = await owner.get(`${notes}/${note}/edit`)
  t.match(edit.body, /<textarea [^>]*>\n?Well \*done\*</)
  const saved = await owner.submit(edit, 'name="version"', { note: 'Better' })
  t.equal(saved.location, `${path}#note_${note}`)
  t.match((await api.get(`/projects/${project.id}/issues/${id}/notes/${note}`)).json(), { body: 'Better' })
  t.match((await owner.get(path)).body, 'edited <time')
  const gone = await owner.submit(edit, 'Delete the comment')
  t.equal(gone.location, path)
  t.same((await api.get(`/projects/${project.id}/issues/${id}/notes`)).json(), [])
  t.equal((await owner.get(`${notes}/${note}/edit`)).status, 404)
  t.equal((await owner.get(`${notes}/${note}`)).location, path, 'a link to a deleted note leads to the issue')
})

t.test('a note of an old page overwrites nothing, and both texts are shown', async t => {
  const { owner, path, api, project, id, notes } = await subject()
  const { id: note } = (await api.post(`/projects/${project.id}/issues/${id}/notes`, { body: 'first' })).json()
  const edit = await owner.get(`${notes}/${note}/edit`)
  await api.put(`/projects/${project.id}/issues/${id}/notes/${note}`, { body: 'theirs <b>' })
  const refused = await owner.submit(edit, 'name="version"', { note: 'mine & <i>' })
  t.equal(refused.status, 409)
  t.match(refused.body, /theirs &lt;b&gt;<\/pre>.*mine &amp; &lt;i&gt;<\/textarea>/s)
  t.match((await api.get(`/projects/${project.id}/issues/${id}/notes/${note}`)).json(), { body: 'theirs <b>' })
  const again = await owner.submit(refused, 'name="version"', { note: 'both' })
  t.equal(again.location, `${path}#note_${note}`)
})

t.test('the longest note is accepted, and a longer one is kept in the form', async t => {
  const { owner, path } = await subject()
  const page = await owner.get(path)
  const text = '\u3042'.repeat(262_144)
  t.match((await owner.submit(page, 'name="note"', { note: text })).location, /#note_\d+$/)
  const refused = await owner.submit(page, 'name="note"', { note: `${text}!` })
  t.equal(refused.status, 400)
  t.match(refused.body, 'is too long (maximum is 262144 characters)')
  t.ok(refused.body.includes(`${text}!`))
  t.match((await owner.get(path)).body, 'This text is too long to be formatted')
})

t.test('a page of very long notes shows the beginning of most of them', async t => {
  const { project, owner, path, id, notes } = await subject()
  const text = '\u{1f600}'.repeat(100_000)
  const { insertId } = await execute(
    `insert into notes (project_id, noteable_type, noteable_id, author_id, note, created_at, updated_at)
     values ${Array.from({ length: 5 }, () => '(?, ?, ?, ?, ?, now(3), now(3))').join(', ')}`,
    Array.from({ length: 5 }, () => [project.id, 'Issue', id, project.owner.id, `x${text}`]).flat()
  )
  const { body } = await owner.get(path)
  t.match(body, `href="${notes}/${insertId + 4}/whole">Show all of it`)
  t.equal(body.match(/Show all of it/g)?.length, 3)
  t.notMatch(body, /[\ud800-\udbff](?![\udc00-\udfff])/)
  const whole = await owner.get(`${notes}/${insertId + 4}/whole`)
  t.ok(whole.body.includes(text))
  t.match(whole.body, `href="${path}#note_${insertId + 4}">Back to the discussion`)
})

t.test('commands run, and a text that is only an emoji becomes an award', async t => {
  const { owner, path, api, project, id } = await subject()
  const issue = async () => (await api.get(`/projects/${project.id}/issues/${id}`)).json()
  const page = await owner.get(path)
  const send = (values: Record<string, string>) => owner.submit(page, 'name="note"', values)
  t.equal((await send({ note: '/title Another' })).location, path)
  t.equal((await issue()).title, 'Another')
  t.equal((await send({ note: ':tada:' })).location, path)
  t.match((await owner.get(path)).body, /value="0 tada" title="tada: [^"]+" class="mine"/)
  t.equal((await issue()).user_notes_count, 0)
  t.match((await send({ note: 'Done', command: 'close' })).location, /#note_\d+$/)
  t.match(await issue(), { state: 'closed', user_notes_count: 1 })
  t.equal((await owner.submit(await owner.get(path), 'name="note"', { command: 'reopen' })).location, path)
  t.match(await issue(), { state: 'reopened', user_notes_count: 1 })
  const blank = await send({ note: '  ' })
  t.equal(blank.status, 400)
  t.match(blank.body, 'note can&#39;t be blank')
})

t.test('a text for something that is deleted in the meantime is shown again', async t => {
  const { owner, path, api, project, id, notes } = await subject()
  const written = 'Two words <b>\r\nand a line'
  const { id: note } = (await api.post(`/projects/${project.id}/issues/${id}/notes`, { body: 'x' })).json()
  const edit = await owner.get(`${notes}/${note}/edit`)
  await api.delete(`/projects/${project.id}/issues/${id}/notes/${note}`)
  const form = await owner.get(`${path}/edit`)
  const page = await owner.get(path)
  const gone = await owner.submit(edit, 'name="version"', { note: written })
  await api.delete(`/projects/${project.id}/issues/${id}`)
  const answers = [
    gone,
    await owner.submit(page, 'name="note"', { note: written }),
    await owner.submit(form, 'name="description"', { title: 'x', description: written })
  ]
  for (const { status, body } of answers) {
    t.equal(status, 404)
    t.match(
      body,
      /This is what you wrote\..*<textarea rows="8" readonly>\nTwo words &lt;b&gt;\nand a line<\/textarea>/s
    )
  }
})

t.test('a page says which commands of a comment did nothing', async t => {
  const { owner, path, api, project, id } = await subject()
  const page = await owner.get(path)
  const note = 'Look\n\n/lable ~bug <b>\n/close\n\n```\n/code\n```\n\n> /quote'
  const made = await owner.submit(page, 'name="note"', { note })
  const [, noteId = ''] = /\?kept=(\d+)#note_\1$/.exec(made.location ?? '') ?? []
  const shown = await owner.get(made.location ?? '')
  t.match(
    shown.body,
    /role="status">Nothing was done for <code>\/lable ~bug &lt;b&gt;<\/code>: there is no such command/
  )
  t.match((await api.get(`/projects/${project.id}/issues/${id}`)).json(), { state: 'closed' }, 'the others ran')
  const kept = (await api.get(`/projects/${project.id}/issues/${id}/notes/${noteId}`)).json()
  t.match(kept.body, '/lable ~bug <b>', 'the text stays')
  t.notMatch((await owner.get(path)).body, 'Nothing was done', 'once')
  const plain = await owner.submit(page, 'name="note"', { note: 'See /usr/bin' })
  t.match(plain.location, /\/issues\/1#note_\d+$/)
})

t.test('emoji are given and taken back; twice is the same as once', async t => {
  const { project, owner, path, api, id, notes } = await subject()
  const { id: note } = (await api.post(`/projects/${project.id}/issues/${id}/notes`, { body: 'x' })).json()
  const other = await app.make.user()
  const theirs = await browserOf(base, other)
  const token = async () => tokenOf(await theirs.get(path))
  for (const _ of [1, 2]) {
    const given = await theirs.post(`${notes}/awards`, { ...(await token()), give: `${note} thumbsup` })
    t.equal(given.location, `${path}#note_${note}`)
  }
  t.match((await theirs.get(path)).body, `name="take" value="${note} thumbsup" title="thumbsup: ${other.name}"`)
  t.match((await owner.get(path)).body, `<span title="thumbsup: ${other.name}">`, 'no vote for an own note')
  const more = await theirs.get(`${notes}/${note}/awards`)
  t.equal(
    (await theirs.submit(more, 'name="name"', { give: `${note} `, name: 'hammer' })).location,
    `${path}#note_${note}`
  )
  t.match((await theirs.get(path)).body, `name="take" value="${note} hammer"`)
  const own = await owner.get(`${notes}/0/awards`)
  t.match(own.body, 'value="0 rocket"')
  t.notMatch(own.body, 'value="0 thumbsup"')
  t.equal((await owner.get(`${notes}/999999/awards`)).status, 404)
  t.notMatch((await owner.get(path)).body, `name="give" value="0 thumbsup"`, 'no vote for an own issue')
  for (const _ of [1, 2]) await theirs.post(`${notes}/awards`, { ...(await token()), take: `${note} thumbsup` })
  t.notMatch((await theirs.get(path)).body, 'title="thumbsup: ')
  t.equal((await theirs.post(`${notes}/awards`, { ...(await token()), give: '0 no-emoji' })).status, 404)
  t.equal((await theirs.post(`${notes}/awards`, { ...(await token()), give: 'x' })).status, 400)
})

t.test('only those who may change a note get its form', async t => {
  const { project, path, api, id, notes } = await subject()
  const { id: note } = (await api.post(`/projects/${project.id}/issues/${id}/notes`, { body: 'x' })).json()
  const developer = await app.make.member(project, DEVELOPER)
  const browser = await browserOf(base, developer)
  const page = await browser.get(path)
  t.notMatch(page.body, `/${note}/edit`)
  t.equal((await browser.get(`${notes}/${note}/edit`)).status, 404)
  const values = { ...tokenOf(page), note: 'y' }
  t.equal((await browser.post(`${notes}/${note}`, values)).status, 403)
  t.equal((await browser.post(`${notes}/${note}/delete`, values)).status, 403)
  t.equal((await browser.post(notes, { note: 'y' })).status, 409, 'without the token of a form, nothing is written')
  const elsewhere = { origin: 'https://elsewhere.example' }
  t.equal((await browser.post(notes, { note: 'y' }, elsewhere)).status, 403)
  const visitor = new Browser(base)
  t.equal((await visitor.get(path)).status, 404, 'issues are for signed-in users, as in the API')
  t.equal((await visitor.post(notes, { note: 'kept' })).status, 401)
  t.match((await api.get(`/projects/${project.id}/issues/${id}/notes`)).json(), [{ body: 'x' }])
})

t.test('a guest sees nothing of a confidential issue', async t => {
  const { project, place, api } = await subject()
  const guest = await app.make.member(project, GUEST)
  const browser = await browserOf(base, guest)
  const secret = await makeIssue(project, project.owner, { title: 'Secret', confidential: true })
  const { id: note } = (await api.post(`/projects/${project.id}/issues/${secret}/notes`, { body: 'x' })).json()
  const token = tokenOf(await browser.get(`${place}/issues/1`))
  t.equal((await browser.get(`${place}/issues/2`)).status, 404)
  t.equal((await browser.get(`${place}/notes/issues/${secret}/${note}`)).status, 404)
  t.equal((await browser.post(`${place}/notes/issues/${secret}`, { ...token, note: 'y' })).status, 404)
  const give = { ...token, give: '0 heart' }
  t.equal((await browser.post(`${place}/notes/issues/${secret}/awards`, give)).status, 404)
  t.equal((await browser.get(`${place}/notes/nothing/1/1`)).status, 404)
})

t.test('a long stream shows its newest page, and links to older notes find theirs', async t => {
  const { project, owner, id, path, notes } = await subject()
  const few = await countStatements(() => owner.get(path))
  const values = Array.from({ length: 205 }, (_, at) => [project.id, 'Issue', id, project.owner.id, `number ${at}.`])
  const { insertId } = await execute(
    `insert into notes (project_id, noteable_type, noteable_id, author_id, note, created_at, updated_at)
     values ${values.map(() => '(?, ?, ?, ?, ?, now(3), now(3))').join(', ')}`,
    values.flat()
  )
  const page = await owner.get(path)
  t.match(page.body, 'number 204.')
  t.notMatch(page.body, 'number 199.')
  t.match(page.body, `<a id="note_${insertId}" href="${notes}/${insertId}">`)
  t.match(page.body, 'Page 3 of 3')
  t.equal((await owner.get(`${notes}/${insertId}`)).location, `${path}?page=1#note_${insertId}`)
  t.equal((await owner.get(`${notes}/${insertId + 204}`)).location, `${path}#note_${insertId + 204}`)
  t.match((await owner.get(`${path}?page=1`)).body, /number 0\..*number 99\./s)
  const many = await countStatements(() => owner.get(path))
  t.ok(many <= few + 3, `${many} statements instead of ${few}`)
})

t.test('a commit has the same stream, of comments', async t => {
  const { project, owner, path, place, api } = await subject()
  await app.make.file(project, 'a.txt', 'one\ntwo\n')
  const sha = (await api.get(`/projects/${project.id}/repository/commits/master`)).json().id
  const token = tokenOf(await owner.get(path))
  const sent = { ...token, note: 'This *line*', path: 'a.txt', line: '2', line_type: 'new' }
  const made = await owner.post(`${place}/commit/${sha}/notes`, sent)
  const asked = { project: await projectRow(project), actor: actorOf(project.owner), query: {} }
  const { base: action, notes, mayWrite } = await readCommitDiscussion(asked, sha)
  t.equal(made.location, `${place}/commit/${sha}#note_${notes[0]?.id}`)
  t.equal(action, `${place}/commit/${sha}/notes`)
  t.match(notes, [{ html: '<p>This <em>line</em></p>\n', line: { path: 'a.txt', number: 2, side: 'new' } }])
  t.equal(mayWrite, true)
  t.equal((await new Browser(base).post(`${place}/commit/${sha}/notes`, sent)).status, 401)
})

t.test('hostile texts and names stay text', async t => {
  const { project, owner, path, api, id } = await subject('<script>alert(1)</script>"\'')
  const body = '<img src=x onerror=alert(1)> [x](javascript:alert(1)) <style>*{}</style>\n\n```"onload="x\n</pre>\n```'
  await api.post(`/projects/${project.id}/issues/${id}/notes`, { body })
  await execute("update users set name = '<svg onload=alert(1)>\" x' where id = ?", [project.owner.id])
  const { body: html } = await owner.get(path)
  t.notMatch(html, /<script(?! type="module" src="\/assets\/)|<img|<style|<svg onload|href="javascript/i)
  t.notMatch(html.replace(/"[^"]*"/g, '""'), /<[^>]+ on\w+=/i)
  t.match(html, '&lt;svg onload=alert(1)&gt;')
})

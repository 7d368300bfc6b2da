// The activity of a project: a page and a feed show the same, to the same readers.

import { execute } from '../../../../src/db/connect/sql.js'
import { GUEST } from '../../../../src/lib/levels.js'
import { makeNote } from '../../../areas/planning/discussion/make-discussion.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { codePages } from '../code/repository.js'

const { app, make, signedIn, nobody } = await codePages(t)

async function active() {
  const made = await make({ visibility_level: 20 })
  const { project } = made
  const owner = app.as(project.owner)
  await app.make.file(project, 'a.txt', 'a')
  await app.make.branch(project, 'topic/one')
  const issue = (await owner.post(`/projects/${project.id}/issues`, { title: 'First <b>' })).json()
  await owner.post(`/projects/${project.id}/issues/${issue.id}/notes`, { body: 'I see\nit <script>' })
  await owner.post(`/projects/${project.id}/issues`, { title: 'Secret', confidential: true })
  await owner.post(`/projects/${project.id}/milestones`, { title: 'v1' })
  await app.runJobs()
  return { ...made, issue }
}

t.test('events are sentences with links', async t => {
  const { project, path } = await active()
  const owner = await signedIn(project.owner)
  const { status, body } = await owner.get(`${path}/activity`)
  t.equal(status, 200)
  t.match(
    body,
    new RegExp(
      `href="/${project.owner.username}">[^<]*</a> opened issue\\s*<a href="${path}/issues/1">#1 First &lt;b&gt;</a>`
    )
  )
  t.match(body, new RegExp(`commented on\\s*<a href="${path}/issues/1#note_\\d+">issue #1`))
  t.match(body, 'I see it &lt;script&gt;')
  t.match(body, new RegExp(`pushed new branch\\s*<a href="${path}/tree/topic/one">topic/one</a>`))
  t.match(body, new RegExp(`pushed to branch\\s*<a href="${path}/tree/master">master</a>`))
  t.match(
    body,
    new RegExp(`<a href="${path}/commit/[0-9a-f]{40}">[0-9a-f]{8}</a></code> <span class="soft">Add a.txt</span>`)
  )
  t.match(body, new RegExp(`opened milestone\\s*<a href="${path}/milestones/1">v1</a>`))
  t.match(body, 'Secret')
  const today = new Date().toISOString().slice(0, 10)
  t.match(body, new RegExp(`<rect [^>]*><title>${today}: [1-9]\\d*</title></rect></svg>`), 'the plot ends today')
  t.equal(body.match(/<rect /g)?.length, 84)
})

t.test('what was closed and opened again is called so', async t => {
  const { project, path, issue } = await active()
  const api = app.as(project.owner)
  for (const state_event of ['close', 'reopen'])
    await api.put(`/projects/${project.id}/issues/${issue.id}`, { state_event })
  await app.runJobs()
  const { body } = await (await signedIn(project.owner)).get(`${path}/activity`)
  const verbs = [...body.matchAll(/<\/a> (\w+ issue)\s*<a href="[^"]*\/issues\/1">/g)].map(([, verb]) => verb)
  t.same(verbs, ['reopened issue', 'closed issue', 'opened issue'])
})

t.test('readers see as much as the API shows them', async t => {
  const { project, path } = await active()
  const barOf = (html: string) => Number(/: (\d+)<\/title><\/rect><\/svg>/.exec(html)?.[1])
  const owner = (await (await signedIn(project.owner)).get(`${path}/activity`)).body
  const stranger = (await (await signedIn(await app.make.user())).get(`${path}/activity`)).body
  t.notMatch(stranger, 'Secret')
  t.equal(barOf(stranger), barOf(owner) - 1, 'the plot does not count what is hidden')
  const visitor = await nobody.get(`${path}/activity.atom`)
  t.notMatch(visitor.body, 'Secret')
  const hidden = await make()
  const guest = await signedIn(await app.make.member(hidden.project, GUEST))
  await app.runJobs()
  t.notMatch((await guest.get(`${hidden.path}/activity`)).body, 'pushed', 'guests may not read the code')
})

t.test('the feed is XML with absolute links', async t => {
  const { project, path, issue } = await active()
  await makeNote(project, { type: 'Issue', id: issue.id }, project.owner, 'x')
  const owner = await signedIn(project.owner)
  const { headers, body } = await owner.get(`${path}/activity.atom`)
  t.equal(headers.get('content-type'), 'application/atom+xml; charset=utf-8')
  t.match(body, /^<\?xml version="1.0" encoding="UTF-8"\?>\s*<feed xmlns="http:\/\/www.w3.org\/2005\/Atom">/)
  t.match(body, new RegExp(`<link href="http[^"]*${path}/issues/1"/>`))
  t.match(body, /<id>tag:[^<]*,2026:event\/\d+<\/id>/)
  t.match(body, 'I see it &lt;script&gt;')
  t.notMatch(body, '<script>')
})

t.test('an empty activity names what will appear, and pages are short', async t => {
  const empty = await app.make.project()
  const owner = await signedIn(empty.owner)
  await execute('delete from activity_events where project_id = ?', [empty.id])
  t.match((await owner.get(`/${empty.path}/activity`)).body, 'Nothing has happened here yet')
  const { project, path } = await active()
  const browser = await signedIn(project.owner)
  const page = await browser.get(`${path}/activity?per_page=2`)
  t.equal(page.body.match(/<li id="event_/g)?.length, 2)
  t.match(page.body, 'rel="next"')
  const few = await countStatements(() => browser.get(`${path}/activity?per_page=5`))
  t.equal(await countStatements(() => browser.get(`${path}/activity?per_page=100`)), few)
  t.equal((await browser.get(`${path}/activity?page=x`)).status, 400)
})

// References in texts lead to what the reader may see, and show nothing of the rest.

import { nobody } from '../../../../src/access/actor.js'
import { findProject } from '../../../../src/areas/projects/projects/projects.queries.js'
import { GUEST, INTERNAL, REPORTER } from '../../../../src/lib/levels.js'
import { textsHtml } from '../../../../src/server/pages/text/texts.js'
import { testApp } from '../../../helpers/app.js'
import { actorOf, projectRow, type TestProject, type TestUser } from '../../../helpers/factory.js'
import { statementsOf } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const project = await app.make.project({ visibility_level: INTERNAL, snippets_enabled: true })
const secret = await app.make.project()
const guest = await app.make.member(secret, GUEST)
const reporter = await app.make.member(secret, REPORTER)
const stranger = await app.make.user()
const group = await app.make.group()

const make = async (of: TestProject, kind: string, body: object): Promise<{ id: number; iid: number }> =>
  (await app.as(of.owner).post(`/projects/${of.id}/${kind}`, body)).json()

for (const of of [project, secret]) {
  await make(of, 'issues', { title: 'A "title" <b>' })
  await make(of, 'issues', { title: 'Hidden', confidential: true })
  await make(of, 'labels', { name: 'in progress', color: '#ff0000' })
  await make(of, 'milestones', { title: 'v1.0' })
  await app.make.file(of, 'a.txt', 'a')
  await app.make.branch(of, 'topic')
  await app.make.file(of, 'b.txt', 'b', 'topic')
  await make(of, 'merge_requests', { title: 'Merge me', source_branch: 'topic', target_branch: 'master' })
}
const snippet = await make(project, 'snippets', {
  title: 'Snippet',
  file_name: 'a',
  code: 'x',
  visibility_level: 0
})
const { id: sha } = (await app.as(secret.owner).get(`/projects/${secret.id}/repository/commits/master`)).json()

async function html(text: string, of: TestProject | null, reader: TestUser | null): Promise<string> {
  const actor = reader ? actorOf(reader) : nobody
  const row = of && (await findProject(of.id, actor))
  return (await textsHtml([text], { project: row ?? null, actor }))[0]?.trim() ?? ''
}

t.test('references become links', async t => {
  const { owner } = project
  const link = (path: string, title: string, words: string) =>
    `<a href="/${project.path}/${path}" title="${title}">${words}</a>`
  t.equal(await html('See #1', project, owner), `<p>See ${link('issues/1', 'A &quot;title&quot; &lt;b&gt;', '#1')}</p>`)
  t.match(await html('!1', project, owner), link('merge_requests/1', 'Merge me', '!1'))
  t.match(await html('%v1.0', project, owner), link('milestones/1', 'v1.0', '%v1.0'))
  t.match(
    await html(`$${snippet.id}`, project, owner),
    `href="/${project.path}/snippets/${snippet.id}" title="Snippet"`
  )
  t.match(
    await html('~"in progress"', project, owner),
    /<a class="label" href="\/[^"]*\/issues\?labels=in\+progress"><svg.*fill="#ff0000".* in progress<\/a>/
  )
  t.match(await html(sha.slice(0, 8), secret, secret.owner), `href="/${secret.path}/commit/${sha}"`)
  t.match(await html(`mentioned in commit ${sha}`, secret, secret.owner), `>${sha.slice(0, 8)}</a>`)
  t.match(
    await html(`${project.path}#1`, secret, secret.owner),
    link('issues/1', 'A &quot;title&quot; &lt;b&gt;', `${project.path}#1`)
  )
  t.match(
    await html(`@${stranger.username.toUpperCase()} @${group.path}`, project, owner),
    `<a href="/${stranger.username}" title="${stranger.name}">@${stranger.username.toUpperCase()}</a>`
  )
  t.equal(
    await html('#99 !99 ~no %no $99 @no-such 0123456', project, owner),
    '<p>#99 !99 ~no %no $99 @no-such 0123456</p>'
  )
})

t.test('what the reader may not see stays text', async t => {
  const { path } = secret
  const text = `${path}#1 ${path}!1 ${path}~"in progress" ${path}%v1.0 ${path}@${sha}`
  const plain = `<p>${text.replaceAll('"', '&quot;')}</p>`
  t.equal(await html(text, project, stranger), plain)
  t.equal((await html(text, project, secret.owner)).match(/<a /g)?.length, 5)
  t.equal((await html(text, project, guest)).match(/<a /g)?.length, 3, 'guests read issues, labels and milestones')
  t.notMatch(await html('#2', secret, guest), '<a', 'a confidential issue')
  t.match(await html('#2', secret, reporter), 'title="Hidden"')
  t.notMatch(await html(`$${snippet.id}`, project, stranger), '<a', 'a private snippet')
  t.equal(await html(`#1 @${stranger.username}`, project, null), `<p>#1 @${stranger.username}</p>`, 'visitors')
  t.equal(
    await html(`#1 @${stranger.username}`, null, stranger),
    `<p>#1 <a href="/${stranger.username}" title="${stranger.name}">@${stranger.username}</a></p>`
  )
})

t.test('a project without a repository has no commits', async t => {
  const empty = await app.make.project()
  t.equal(await html(sha, empty, empty.owner), `<p>${sha}</p>`)
})

t.test('many references need no more statements than one of each kind', async t => {
  const { owner } = secret
  const actor = actorOf(owner)
  const reading = { project: await projectRow(secret), actor }
  const each = `#1 !1 ~a %a $1 @a ${project.path}#1 1234567`
  const few = await statementsOf(() => textsHtml([each], reading))
  const many = Array.from(
    { length: 50 },
    (_, at) => `#${at} !${at} ~x${at} %x${at} $${at} @x${at} a/b${at}#1 ${project.path}#${at}`
  )
  t.equal((await statementsOf(() => textsHtml(many, reading))).length, few.length)
  t.equal((await statementsOf(() => textsHtml(['nothing'], reading))).length, 0)
})

// Every link of a page, a record, a hook or a mail opens something.
import { beginSession, byPassword } from '../../../src/areas/people/credentials/credentials.js'
import { publicUrl } from '../../../src/config.js'
import { rows } from '../../../src/db/connect/sql.js'
import { testApp } from '../../helpers/app.js'
import { mailbox } from '../../helpers/mails.js'
import t from '../../helpers/tap.js'
import { makeSpecimens, PAGES } from './every-page.js'

const app = await testApp(t)
const mails = mailbox()
const its = await makeSpecimens(app)
const { user } = its
const { cookie } = await beginSession(byPassword(user), { address: '127.0.0.1', userAgent: 'test' })
const headers = { accept: 'text/html', cookie: `_service_session=${cookie}` }

const opened = new Map<string, number>()

/** Each form that destroys something, with the page on which one click sends it. */
const hasty = new Set<string>()
/** What one click may end: a session, whose user signs in again. */
const HARMLESS = /^\/profile\/sessions\//

function lookForHastyForms(path: string, page: string) {
  // The summary of `details` is the first click.
  const open = page.replaceAll(/<details.*?<\/details>/gs, '')
  for (const [, action = ''] of open.matchAll(/<form method="post" action="([^"]*)"/g)) {
    const isDestructive = /\/(delete|erase|remove|revoke|unprotect)(\/|$)/.test(action) && !HARMLESS.test(action)
    // The page of a form that only deletes is the second click.
    if (isDestructive && path !== action) hasty.add(`${path}: ${action}`)
  }
}

/** Opens a path, and those that it leads to. Returns the page. */
async function open(path: string): Promise<string> {
  const { statusCode, headers: sent, body } = await app.fastify.inject({ url: path, headers })
  opened.set(path, statusCode)
  if (statusCode === 302) await follow(String(sent.location))
  return String(sent['content-type']).startsWith('text/html') ? body : ''
}

async function follow(link: string): Promise<void> {
  const [path = ''] = link.replace(publicUrl(), '').split('#', 1)
  if (path.startsWith('/') && !opened.has(path)) await open(path)
}

/** Those that show nothing. */
const failed = () => [...opened].filter(([, status]) => ![200, 302].includes(status))

const unescaped = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"')

t.test('every link of a page leads to another one', async t => {
  for (const pathOf of Object.values(PAGES)) {
    const path = pathOf(its).replace(/#.*/, '')
    const page = await open(path)
    lookForHastyForms(path, page)
    for (const [, link = ''] of page.matchAll(/ href="([^"]*)"/g)) await follow(unescaped(link))
  }
  t.ok(opened.size > 150, `${opened.size} links`)
  t.same(failed(), [])
  t.same([...hasty], [], 'nothing is destroyed by one click')
})

t.test('every link of a record opens its page', async t => {
  const before = opened.size
  const { id } = (await app.as(user).get(`/projects/${encodeURIComponent(its.project)}`)).json()
  const below = `/projects/${id}`
  const paths = [
    ...[below, '/user', `/users/${user.id}`, '/groups', '/todos', '/issues', '/projects', `${below}/events`],
    ...['issues', 'merge_requests', 'milestones', 'members', 'snippets', 'pipelines', 'builds', 'labels'].map(
      name => `${below}/${name}`
    ),
    ...['commits', 'branches', 'tags'].map(name => `${below}/repository/${name}`)
  ]
  for (const path of paths) await followAll((await app.as(user).get(path)).body)
  t.ok(opened.size > before)
  t.same(failed(), [])
})

t.test('every link of a mail and of a hook opens its page', async t => {
  await app.as(user).post(`/projects/${encodeURIComponent(its.project)}/hooks`, {
    ...{ url: 'https://receiver.example/', push_events: true, issues_events: true, merge_requests_events: true },
    ...{ note_events: true, build_events: true, pipeline_events: true, tag_push_events: true }
  })
  const below = `/projects/${encodeURIComponent(its.project)}`
  const { id } = (await app.as(user).post(`${below}/issues`, { title: 'Told', description: '@grace' })).json()
  await app.as(user).post(`${below}/issues/${id}/notes`, { body: 'and a note' })
  await app.as(user).post(`${below}/repository/commits/master/comments`, { note: 'a comment' })
  await app.as(user).post(`${below}/repository/tags`, { tag_name: 'v2.0', ref: 'master' })
  const received = await mails()
  t.ok(received.length > 2, `${received.length} mails`)
  for (const { text, html } of received) await followAll(`${text}\n${unescaped(html)}`)
  const payloads = await rows<{ payload: string }>('select payload from hook_deliveries')
  t.ok(payloads.length > 3, `${payloads.length} deliveries`)
  for (const { payload } of payloads) await followAll(payload)
  t.same(failed(), [])
})

async function followAll(text: string): Promise<void> {
  const url = publicUrl().replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  for (const [link] of text.matchAll(new RegExp(`${url}/[^\\s"'<>)\\\\]*`, 'g'))) await follow(link)
}

// Services of projects: what is set, read and cleared.
import { execute, row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)

async function subject() {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const path = (slug: string) => `/projects/${project.id}/services/${slug}`
  return { project, owner, path }
}

const NO_EVENTS = {
  push_events: false,
  issues_events: false,
  merge_requests_events: false,
  tag_push_events: false,
  note_events: false,
  build_events: false,
  pipeline_events: false
}
const TRACKER = {
  new_issue_url: 'https://bugs.example.org/new',
  issues_url: 'https://bugs.example.org/:id?key=hidden',
  project_url: 'https://bugs.example.org/'
}

t.test('a service is set up, changed and cleared', async t => {
  for (const [slug, title, events, first, second] of [
    [
      'emails-on-push',
      'Emails on push',
      { push_events: true, tag_push_events: true },
      { recipients: 'ada@example.org, bob@example.org\nc@example.org', disable_diffs: true },
      { recipients: 'ada@example.org', send_from_committer_email: true }
    ],
    [
      'builds-email',
      'Builds emails',
      { build_events: true },
      { recipients: 'ada@example.org', add_pusher: true, notify_only_broken_builds: false },
      { recipients: 'ada@example.org', add_pusher: false }
    ],
    [
      'pipelines-email',
      'Pipelines emails',
      { pipeline_events: true },
      { recipients: 'ada@example.org' },
      { recipients: 'ada@example.org', notify_only_broken_builds: true }
    ],
    [
      'external-wiki',
      'External Wiki',
      {},
      { external_wiki_url: 'https://wiki.example.org/' },
      { external_wiki_url: 'http://wiki.example.org/two' }
    ],
    ['custom-issue-tracker', 'Custom Issue Tracker', {}, TRACKER, { ...TRACKER, description: 'Bugs' }]
  ] as const) {
    const { owner, path } = await subject()
    const record = { title, ...NO_EVENTS, ...events }
    const blank = { id: null, created_at: null, updated_at: null, active: false, ...record, properties: {} }
    t.same((await owner.get(path(slug))).json(), blank, slug)
    t.same((await owner.delete(path(slug))).json(), true)
    t.same((await owner.get(path(slug))).json(), blank, 'it was never saved')
    const saved = await owner.put(path(slug), { ...first, foreign: 'ignored' })
    t.same([saved.statusCode, saved.json()], [200, true])
    const { id, created_at, updated_at, ...rest } = (await owner.get(path(slug))).json()
    t.match({ id, created_at, updated_at }, { id: Number, created_at: /Z$/, updated_at: /Z$/ })
    t.same(rest, { active: true, ...record, properties: first })
    await owner.put(path(slug), second)
    t.match((await owner.get(path(slug))).json(), { id, active: true, properties: { ...first, ...second } })
    t.same((await owner.delete(path(slug))).json(), true)
    t.match((await owner.get(path(slug))).json(), { id, created_at, active: false, ...record })
    t.same((await owner.get(path(slug))).json().properties, {})
  }
})

t.test('a tracker has its own title', async t => {
  const { owner, path } = await subject()
  await owner.put(path('custom-issue-tracker'), { ...TRACKER, title: 'Bugs' })
  t.match((await owner.get(path('custom-issue-tracker'))).json(), { title: 'Bugs', properties: { title: 'Bugs' } })
  await owner.put(path('custom-issue-tracker'), { ...TRACKER, title: '' })
  const { title, properties } = (await owner.get(path('custom-issue-tracker'))).json()
  t.same([title, properties], ['Custom Issue Tracker', TRACKER])
})

t.test('wrong questions', async t => {
  const { owner, path } = await subject()
  const recipients = (text: string) => ({ recipients: text })
  for (const [slug, body, expected] of [
    ['jira', {}, { error: 'service_slug does not have a valid value' }],
    ['constructor', {}, { error: 'service_slug does not have a valid value' }],
    ['emails-on-push', {}, { error: 'recipients is missing' }],
    ['custom-issue-tracker', { issues_url: 'x' }, { error: 'new_issue_url is missing, project_url is missing' }],
    ['emails-on-push', { ...recipients('a@b.org'), disable_diffs: 'maybe' }, { error: 'disable_diffs is invalid' }],
    ['builds-email', recipients(' , '), { message: { recipients: ["can't be blank"] } }],
    ['builds-email', recipients('a@b.org nobody'), { message: { recipients: ['is invalid: nobody'] } }],
    [
      'pipelines-email',
      recipients(Array.from({ length: 101 }, (_, at) => `a${at}@b.org`).join()),
      { message: { recipients: ['has too many addresses (maximum is 100)'] } }
    ],
    [
      'external-wiki',
      { external_wiki_url: 'javascript:alert(1)' },
      { message: { external_wiki_url: ['must be a valid URL'] } }
    ],
    [
      'external-wiki',
      { external_wiki_url: `https://b.org/${'x'.repeat(2000)}` },
      { message: { external_wiki_url: ['is too long (maximum is 2000 characters)'] } }
    ]
  ] as const) {
    const res = await owner.put(path(slug), body)
    t.equal(res.statusCode, 400, JSON.stringify(res.json()))
    t.match(res.json(), expected)
  }
  for (const res of [await owner.get(path('jira')), await owner.delete(path('jira'))]) {
    t.equal(res.statusCode, 400)
    t.match(res.json(), { error: 'service_slug does not have a valid value' })
  }
  t.match((await owner.get(path('emails-on-push'))).json(), { id: null }, 'nothing was saved')
})

t.test('what is set is encrypted, and the audit hides parameters of URLs', async t => {
  const { project, owner, path } = await subject()
  await owner.put(path('custom-issue-tracker'), TRACKER)
  const stored = await row<{ box: Buffer }>('select properties_encrypted as box from services where project_id = ?', [
    project.id
  ])
  t.notOk(stored?.box.includes('example.org'))
  const seen = await row<{ target_name: string; changes: string }>(
    "select target_name, changes from audit_events where action = 'service.update' and target_id = ?",
    [String(project.id)]
  )
  t.equal(seen?.target_name, `${project.path} custom-issue-tracker`)
  t.match(JSON.parse(seen?.changes ?? ''), {
    active: { after: true },
    issues_url: { after: 'https://bugs.example.org/:id?key=redacted' }
  })
})

t.test('properties that cannot be decrypted are an error, and can be set again', async t => {
  const { project, owner, path } = await subject()
  const body = { recipients: 'ada@example.org' }
  await owner.put(path('emails-on-push'), body)
  await execute("update services set properties_encrypted = 'of another key' where project_id = ?", [project.id])
  const lost = await owner.get(path('emails-on-push'))
  t.equal(lost.statusCode, 500)
  t.match(lost.json(), { message: /service emails-on-push cannot be decrypted/ })
  t.equal((await owner.put(path('emails-on-push'), body)).statusCode, 200)
  t.match((await owner.get(path('emails-on-push'))).json(), { properties: body })
})

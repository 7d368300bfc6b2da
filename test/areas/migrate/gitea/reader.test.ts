// The reader for Gitea, Forgejo and Gogs, on a conversation written from the documentation of their API.
import { gitea } from '../../../../src/areas/migrate/gitea/reader.js'
import { isSamePage } from '../../../../src/areas/migrate/sources/same-page.js'
import t, { type Test } from '../../../helpers/tap.js'
import { type Answer, all, type ForgeOptions, openSource, readRecords, rewrite, startForge } from '../forge.js'
import { bob, conversation, GITEA, issue, repository, UUID } from './conversation.js'

async function subject(t: Test, change: { [path: string]: Answer } = {}, options: ForgeOptions = GITEA) {
  const forge = await startForge(t, { ...conversation(), ...change }, options)
  return { forge, ...openSource(t, gitea, forge.url) }
}

const none = () => {}
const sha = (digit: string) => digit.repeat(40)
const EARLY = '2020-01-01T00:00:00.000Z'
const LATE = '2020-01-02T00:00:00.000Z'

t.test('people, organizations and repositories', async t => {
  const { source, forge } = await subject(t)
  t.same(await source.about(), { version: '1.24.6', username: 'ada', isAdmin: true })
  const people = await Promise.all(['ada', 'bob'].map(name => source.user(name, none)))
  t.match(people, [
    {
      username: 'ada',
      name: 'Ada L',
      email: 'ada@example.com',
      isVerified: false,
      isAdmin: true,
      state: 'active',
      createdAt: '2018-01-01T00:00:00.000Z',
      keys: [{ title: 'laptop', key: 'ssh-ed25519 AAAA ada' }]
    },
    { username: 'bob', name: 'bob', email: null, isAdmin: false, state: 'blocked', keys: [] }
  ])
  t.equal(await source.user('Ghost', none), null)
  t.equal(await source.user('../admin', none), null)
  t.same(await all(source.groups(none)), [
    {
      path: 'team',
      name: 'The Team',
      description: 'All',
      visibility: 'internal',
      members: [
        { username: 'ada', level: 50 },
        { username: 'bob', level: 30 }
      ]
    }
  ])
  const [found, ...others] = await all(source.projects(none))
  t.same(others, [])
  t.match(found, {
    id: '7',
    path: 'team/tool',
    cloneUrl: 'https://git.example.com/team/tool.git',
    wikiUrl: 'https://git.example.com/team/tool.wiki.git',
    avatarUrl: null,
    size: 122_880
  })
  if (found) t.same(await source.counts(found), { labels: 3, milestones: 2, issues: 7, merge_requests: 3, releases: 3 })
  await t.rejects(source.project('no/such'), { message: /repos\/no\/such answered with status 404/ })
  t.ok(forge.received.every(({ method, headers }) => method === 'GET' && headers.authorization === 'token sesame'))
})

t.test('without an administrator, nobody looks blocked', async t => {
  const bob = { id: 2, login: 'bob', email: 'bob@noreply.example.com', active: false }
  const { source } = await subject(t, { user: { id: 1, login: 'ada' }, 'users/bob': bob })
  const people = await Promise.all(['ada', 'bob'].map(name => source.user(name, none)))
  t.match(people, [
    { username: 'ada', email: 'ada@example.com', state: 'active' },
    // A hidden address.
    { username: 'bob', email: null, state: 'active' }
  ])
  t.match(await all(source.projects(none)), [{ path: 'team/tool' }])
  const narrow = await subject(t, { 'admin/orgs': 403 })
  t.match(await narrow.source.about(), { isAdmin: false }, 'a token without the scope for administrators')
})

t.test('every field of the records of a repository', async t => {
  const { source } = await subject(t)
  const project = await source.project('team/tool')
  const { found, skipped } = await readRecords(source, project)
  const created_at = '2019-05-06T05:08:09.000Z'
  const made = { created_at, updated_at: created_at }
  t.match(found.project, [
    {
      name: 'tool',
      path: 'tool',
      description: 'A tool',
      visibility_level: 10,
      archived: false,
      default_branch: 'main',
      issues_enabled: true,
      builds_enabled: false,
      tag_list: ['c', 'tools'],
      created_at,
      last_activity_at: '2024-01-02T03:04:05.000Z'
    }
  ])
  t.same(found.member, [
    { kind: 'member', username: 'cleo', access_level: 40, expires_at: null, created_at },
    { kind: 'member', username: 'dora', access_level: 30, expires_at: null, created_at }
  ])
  const label = { kind: 'label', description: null, priority: null, ...made, subscriptions: [] }
  t.same(found.label, [
    { ...label, title: 'bug, bad', color: '#ff0000', description: 'Broken' },
    { ...label, title: 'bug, bad', color: '#00ff00' },
    { ...label, title: 'odd', color: '#808080' },
    { ...label, title: 'all', color: '#0000ff' }
  ])
  const milestone = { kind: 'milestone', start_date: null, created_at: EARLY, updated_at: LATE }
  t.same(found.milestone, [
    { ...milestone, iid: 1, title: 'v1', description: 'First', due_date: null, state: 'closed' },
    { ...milestone, iid: 2, title: 'v2', description: null, due_date: '2024-02-29', state: 'active' }
  ])
  t.same(found.protected_branch, [
    {
      kind: 'protected_branch',
      name: 'main',
      developers_can_push: false,
      developers_can_merge: false,
      created_at: EARLY,
      updated_at: LATE
    },
    {
      kind: 'protected_branch',
      name: 'release/*',
      developers_can_push: true,
      developers_can_merge: true,
      created_at: EARLY,
      updated_at: LATE
    }
  ])
  t.match(found.release, [
    {
      tag: 'v1',
      description: '# One\n\nnotes\n\n- [tool.zip](https://git.example.com/team/tool/releases/download/v1/tool.zip)'
    },
    { tag: 'v2', description: '' }
  ])

  const planned = {
    description: null,
    assignee: null,
    milestone: null,
    updated_by: null,
    time_estimate: 0,
    total_time_spent: 0,
    created_at: EARLY,
    updated_at: LATE,
    labels: [],
    timelogs: [],
    award_emoji: [],
    subscriptions: []
  }
  const issues = { ...planned, kind: 'issue', confidential: false, due_date: null, state: 'opened' }
  const at = '2020-01-05T00:00:00.000Z'
  t.same(found.issue, [
    {
      ...issues,
      iid: 1,
      title: 'Issue 1',
      description:
        `Hello ☕ ![x](/attachments/${UUID}#a%20b%20%281%29.png) #3\n\n` +
        '[log.txt](/attachments/70aee4ea-041b-4797-a29c-015c885777da#log.txt)',
      author: 'bob',
      assignee: 'ada',
      milestone: 2,
      due_date: '2024-02-29',
      labels: ['bug, bad', 'gone'],
      participants: ['bob', 'ada'],
      total_time_spent: 3600,
      timelogs: [{ user: 'bob', time_spent: 3600, created_at: '2020-01-03T00:00:00.000Z' }],
      award_emoji: [
        { name: 'tada', user: 'ada', created_at: at, updated_at: at },
        { name: 'thumbsup', user: 'ada', created_at: at, updated_at: at }
      ],
      subscriptions: [{ user: 'ada', subscribed: true }]
    },
    {
      ...issues,
      iid: 2,
      title: 'Issue 2',
      description: '*Written by octocat on another forge.*',
      author: null,
      participants: []
    },
    {
      ...issues,
      iid: 6,
      title: 'Issue 6',
      state: 'closed',
      author: null,
      participants: [],
      created_at: '1969-07-20T20:17:40.000Z'
    }
  ])
  const pull = {
    ...planned,
    kind: 'merge_request',
    state: 'opened',
    author: 'ada',
    participants: ['ada'],
    merge_status: 'unchecked',
    target_branch: 'main',
    merge_commit_sha: null,
    merge_error: null,
    merge_user: null,
    merge_message: null,
    should_remove_source_branch: null,
    force_remove_source_branch: null
  }
  const versions = (digit: string) => [
    {
      head_sha: sha(digit),
      base_sha: sha('d'),
      start_sha: sha('d'),
      state: 'collected',
      real_size: '0',
      created_at: EARLY
    }
  ]
  t.same(found.merge_request, [
    {
      ...pull,
      iid: 3,
      title: 'Pull 3',
      description: 'Closes #1',
      state: 'merged',
      participants: ['ada', 'bob'],
      source_branch: 'feature',
      fork: null,
      head_sha: sha('a'),
      merge_commit_sha: sha('b'),
      merge_user: 'ada',
      versions: versions('a')
    },
    { ...pull, iid: 4, title: 'Pull 4', source_branch: 'fix', fork: '70', head_sha: sha('c'), versions: versions('c') },
    {
      ...pull,
      iid: 5,
      title: 'Pull 5',
      state: 'closed',
      author: null,
      participants: [],
      source_branch: 'gone',
      fork: '-1',
      head_sha: sha('f'),
      versions: versions('f')
    }
  ])
  const on = (type: string, number: number) => ({
    kind: 'note',
    on: { type, number, commit: null },
    author: 'bob',
    is_system: false,
    path: null,
    line: null,
    line_type: null,
    updated_by: null,
    refers: null,
    created_at: EARLY,
    updated_at: LATE,
    award_emoji: []
  })
  const later = '2020-01-06T00:00:00.000Z'
  const times = (time: string) => ({ created_at: time, updated_at: time })
  t.same(found.note, [
    {
      ...on('Issue', 1),
      note: 'Hello @ada',
      award_emoji: [{ name: 'laughing', user: 'ada', created_at: later, updated_at: later }]
    },
    { ...on('Issue', 1), author: null, note: '' },
    { ...on('MergeRequest', 3), note: 'here', path: 'a.c', line: 12, line_type: 'new' },
    { ...on('MergeRequest', 3), note: 'gone', path: 'a.c', line: 3, line_type: 'old' },
    { ...on('MergeRequest', 3), note: 'file' },
    { ...on('MergeRequest', 3), note: 'Requested changes', is_system: true, ...times('2020-02-01T00:00:00.000Z') },
    { ...on('MergeRequest', 3), note: 'please', ...times('2020-02-01T00:00:00.000Z') },
    {
      ...on('MergeRequest', 3),
      note: 'Approved this merge request',
      is_system: true,
      ...times('2020-03-01T00:00:00.000Z')
    },
    {
      ...on('MergeRequest', 3),
      author: 'ada',
      note: 'Status changed to merged',
      is_system: true,
      ...times('2020-04-01T00:00:00.000Z')
    }
  ])
  t.match(found.hook, [
    {
      url: 'https://ci.example.com/hook',
      push_events: true,
      tag_push_events: false,
      issues_events: false,
      merge_requests_events: true,
      note_events: true,
      created_at: EARLY
    }
  ])
  t.same(found.variable, [
    { kind: 'variable', key: 'VAR', value: 'value', masked: false, protected: false, environment_scope: '*', ...made }
  ])
  t.match(skipped, {
    'hook: it is for another service': 1,
    'issue: the source sends it in another form than its API describes': 1,
    'award emoji: there is no such emoji here': 1,
    'award emoji: the account was deleted': 1,
    'assignee: a record here has one': 1,
    'release: it is a draft': 1
  })

  const rewritten = found.issue?.map(({ description }) => rewrite(source, project, String(description)))[0]
  t.equal(
    rewritten,
    `Hello ☕ ![x](FILE(/team/tool/attachments/${UUID} a b (1).png)) !3\n\n` +
      '[log.txt](FILE(/team/tool/attachments/70aee4ea-041b-4797-a29c-015c885777da log.txt))'
  )
})

t.test('lists of many pages come whole and in their order', async t => {
  const numbers = Array.from({ length: 130 }, (_, at) => at + 1)
  const list = numbers.toReversed().map(number => issue(number, number % 10 === 0 ? { pull_request: {} } : {}))
  for (const paging of [GITEA.paging, () => ({})]) {
    const { source, forge } = await subject(t, { 'repos/team/tool/issues': list }, { ...GITEA, paging })
    const project = await source.project('team/tool')
    const { found } = await readRecords(source, project)
    t.same(
      found.issue?.map(({ iid }) => iid),
      numbers.filter(number => number % 10 !== 0)
    )
    t.equal(new Set(forge.asked()).size, forge.asked().length, 'no page was asked for twice')
    t.equal(rewrite(source, project, '#10 #11'), '!10 #11')
  }
})

t.test('an issue that appears while the pages are read moves the others, and none is missing', async t => {
  const list = Array.from({ length: 120 }, (_, at) => issue(120 - at))
  let asked = 0
  const { source } = await subject(t, {
    'repos/team/tool/issues': () => {
      asked++
      return asked > 1 ? [issue(121), ...list] : list
    }
  })
  const { found } = await readRecords(source, await source.project('team/tool'))
  t.same(
    found.issue?.map(({ iid }) => iid),
    Array.from({ length: 120 }, (_, at) => at + 1)
  )
})

t.test('fields in another order, and counts of downloads, are no change', async t => {
  const team = (...units: string[]) => ({ id: 3, name: 'some', permission: 'admin', units })
  let asked = 0
  const change = {
    // A list that is not divided into pages, and does not count its items.
    'repos/team/tool/teams': () => [
      team(...(asked++ % 2 === 0 ? ['repo.code', 'repo.wiki'] : ['repo.wiki', 'repo.code']))
    ],
    'repos/team/tool/issues/1/comments': () => [
      {
        id: 1,
        user: { ...bob, last_login: `2020-01-0${(asked % 9) + 1}T00:00:00Z` },
        assets: [{ name: 'a', download_count: asked }]
      }
    ]
  }
  const { source, forge, folder, client } = await subject(t, change, { ...GITEA, paging: () => ({}) })
  const first = await readRecords(source, await source.project('team/tool'))
  t.equal(client.newest(), 1)
  t.equal(forge.asked().filter(url => /tool\/teams/.test(url)).length, 2)
  const second = openSource(t, gitea, forge.url, { run: 2, folder })
  t.same(await readRecords(second.source, await second.source.project('team/tool')), first)
  t.equal(second.client.newest(), 1, 'no page has changed')
})

t.test('lists in lists are compared in a time that does not grow with each level', async t => {
  const page = (count: number) => {
    let nested: unknown = '"'
    for (let level = 0; level < 100; level++) nested = [nested, 1]
    return { run: 1, status: 200, headers: {}, body: JSON.stringify([{ nested, download_count: count }]) }
  }
  t.equal(isSamePage(page(1), page(2), gitea.ignored ?? []), true)
  t.equal(isSamePage(page(1), page(2), []), false)
})

t.test('the comments of a review come once, in any order', async t => {
  const path = 'repos/team/tool/pulls/3/reviews/1/comments'
  const comments = Array.from({ length: 5 }, (_, at) => ({
    id: at + 1,
    body: `line ${at + 1}`,
    path: 'a.c',
    position: 1
  }))
  let asked = 0
  const { source, forge, folder, client } = await subject(
    t,
    // All of them, whichever page was asked for.
    { [path]: () => [...comments.slice(asked % 5), ...comments.slice(0, asked++ % 5)] },
    { ...GITEA, paging: () => ({}) }
  )
  const first = await readRecords(source, await source.project('team/tool'))
  t.same(
    first.found.note?.flatMap(({ note, path }) => (path ? [note] : [])),
    comments.map(({ body }) => body)
  )
  const second = openSource(t, gitea, forge.url, { run: 2, folder })
  t.same(await readRecords(second.source, await second.source.project('team/tool')), first)
  t.equal(client.newest(), second.client.newest(), 'no page has changed')
})

t.test('a Gogs has fewer lists, and no numbers of pages', async t => {
  const { source, forge } = await subject(
    t,
    {
      version: 404,
      'repos/team/tool/labels': null,
      'repos/team/tool/collaborators': [
        { id: 7, login: 'dora', permissions: { admin: false, push: true, pull: true } }
      ],
      'repos/team/tool/collaborators/dora/permission': 404,
      // It has no state for all.
      'repos/team/tool/issues': (query: URLSearchParams) =>
        (conversation()['repos/team/tool/issues'] as { state?: string }[]).filter(
          ({ state = 'open' }) => state === (query.get('state') === 'closed' ? 'closed' : 'open')
        )
    },
    { ...GITEA, paging: () => ({}) }
  )
  t.match(await source.about(), { version: 'Gogs' })
  const { found, skipped } = await readRecords(source, await source.project('team/tool'))
  t.same(
    found.issue?.map(({ iid }) => iid),
    [1, 2, 6]
  )
  t.notOk(found.merge_request)
  t.match(
    found.member?.map(({ username, access_level }) => [username, access_level]),
    [
      ['cleo', 40],
      ['dora', 30]
    ]
  )
  t.match(skipped, { 'merge request: the API of Gogs does not show pull requests': 3 })
  t.notOk(forge.asked().some(url => /reactions|reviews|times|subscriptions/.test(url)))
})

t.test('a broken forge ends the run with the address of what is wrong', async t => {
  for (const [list, problem] of [
    [{ message: 'what?' }, /repos\/team\/tool\/issues\S* is not a list/],
    ['<html>', /repos\/team\/tool\/issues\S* is not JSON/],
    [500, /repos\/team\/tool\/issues\S* still answers with status 500/]
  ] as const) {
    const { source } = await subject(t, { 'repos/team/tool/issues': list })
    await t.rejects(readRecords(source, await source.project('team/tool')), { message: problem })
  }
  const odd = await subject(t, { 'repos/team/tool': { ...repository, full_name: '../../etc/passwd' } })
  await t.rejects(odd.source.project('team/tool'), { message: /is not a repository as the API describes it/ })
})

t.test('texts get the references and files of this appliance', async t => {
  const { source, forge } = await subject(t)
  const project = await source.project('team/tool')
  await readRecords(source, project)
  const web = forge.url.href.replace(/\/$/, '')
  const file = `FILE(/team/tool/attachments/${UUID} ${UUID})`
  const cases = [
    ['#1 #3 !3 !1 team/tool#3 other/x#3', '#1 !3 !3 #1 crew/tool!3 other/x#3'],
    ['@ada @bob', '@ada.here @bob'],
    [`![a](/attachments/${UUID}) <img src="${web}/attachments/${UUID}">`, `![a](${file}) <img src="${file}">`],
    [`[a](${web}/other/x/attachments/${UUID})`, `[a](${web}/other/x/attachments/${UUID})`],
    [
      `${web}/team/tool/releases/download/v1/a%20b.zip`,
      '[a b.zip](FILE(/team/tool/releases/download/v1/a%20b.zip a b.zip))'
    ],
    [`${web}/other/x/releases/download/v1/a.zip`, `${web}/other/x/releases/download/v1/a.zip`],
    [
      `[a](/team/tool/releases/download/../../../../api/v1/repos/other/secret/raw/key)`,
      `[a](/team/tool/releases/download/../../../../api/v1/repos/other/secret/raw/key)`
    ],
    [`${web}/team/tool/issues/3#issuecomment-5 and ${web}/team/tool/pulls/1/files.`, '!3 and #1.'],
    [
      `[x](${web}/team/tool/src/branch/main/a.c#L3) [y](/team/tool/raw/commit/abc/a.c)`,
      '[x](/crew/tool/blob/main/a.c#L3) [y](/crew/tool/raw/abc/a.c)'
    ],
    [`${web}/team/tool/commit/0123456789 ${web}/team/tool`, '0123456789 [crew/tool](/crew/tool)'],
    ['`#3 @ada`', '`#3 @ada`']
  ] as const
  for (const [text, expected] of cases) t.equal(rewrite(source, project, text), expected)
})

t.test('what a deleted fork, a missing body and odd places leave is a record', async t => {
  const { source } = await subject(t, {
    'repos/team/tool/pulls': [
      {
        ...issue(3),
        user: bob,
        body: null,
        head: { label: '', ref: 'refs/pull/3/head', sha: '' },
        base: { label: '', ref: 'main', sha: '', repo_id: 7 },
        merge_base: ''
      }
    ]
  })
  const { found } = await readRecords(source, await source.project('team/tool'))
  t.match(found.merge_request, [
    {
      source_branch: 'refs/pull/3/head',
      target_branch: 'main',
      fork: '-1',
      head_sha: null,
      versions: [],
      description: null
    }
  ])
})

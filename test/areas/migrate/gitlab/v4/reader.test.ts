// The reader for GitLab's API v4, on a conversation written from its documentation.
import { gitlab4 } from '../../../../../src/areas/migrate/gitlab/v4/reader.js'
import t, { type Test } from '../../../../helpers/tap.js'
import { type Answer, all, openSource, readRecords, rewrite, startForge } from '../../forge.js'
import { conversation, GITLAB, issue, project } from './conversation.js'

async function subject(t: Test, change: { [path: string]: Answer } = {}) {
  const answers = { ...conversation(), ...change }
  const forge = await startForge(t, answers, GITLAB)
  const { source, client, folder } = openSource(t, gitlab4, forge.url)
  return { forge, source, client, folder, answers }
}

const none = () => {}
const sha = (digit: string) => digit.repeat(40)
const EARLY = '2020-01-01T00:00:00.000Z'
const LATE = '2020-01-02T00:00:00.000Z'

t.test('people, groups and projects', async t => {
  const { source, forge } = await subject(t)
  t.same(await source.about(), { version: '17.5.1-ee', username: 'ada', isAdmin: true })
  t.same(await Promise.all(['ada', 'bob'].map(name => source.user(name, none))), [
    {
      username: 'ada',
      name: 'ada',
      email: 'ada@example.com',
      isAdmin: true,
      state: 'active',
      createdAt: '2015-01-01T00:00:00.000Z',
      keys: [{ title: 'laptop', key: 'ssh-ed25519 AAAA ada' }]
    },
    // A public address is confirmed. Nobody has proved that the other one is theirs.
    { username: 'bob', name: 'bob', email: 'bob@example.org', isAdmin: false, state: 'blocked', keys: [] }
  ])
  t.equal(await source.user('nobody', none), null)
  t.equal(await source.user('ghost', none), null)
  t.same(await all(source.groups(none)), [
    {
      path: 'team',
      name: 'Team',
      description: 'All',
      visibility: 'private',
      members: [{ username: 'ada', level: 50, expiresAt: null }]
    },
    {
      path: 'team/sub',
      name: 'Sub',
      description: '',
      visibility: 'private',
      members: [
        { username: 'ada', level: 50, expiresAt: null },
        { username: 'bob', level: 30, expiresAt: null }
      ]
    }
  ])
  const [found, ...others] = await all(source.projects(none))
  t.same(others, [], 'a project that is not as documented is left out')
  t.match(found, {
    id: '7',
    path: 'team/sub/tool',
    cloneUrl: 'https://git.example.com/team/sub/tool.git',
    wikiUrl: 'https://git.example.com/team/sub/tool.wiki.git',
    avatarUrl: `${forge.url}api/v4/projects/7/avatar`,
    size: 1_234_567
  })
  t.same(await source.project('team/sub/tool'), found)
  await t.rejects(source.project('no/such'), {
    message: /projects\/no%2Fsuch\S* answered with status 404/
  })
  if (!found) return
  const counts = await source.counts(found)
  t.match(counts, { labels: 3, milestones: 3, issues: 4, merge_requests: 2, releases: 2, snippets: 2, pipelines: 1 })
  t.ok(forge.received.every(({ method, headers }) => method === 'GET' && headers['private-token'] === 'sesame'))
})

t.test('without an administrator, groups and projects are those of the token', async t => {
  const { source, forge } = await subject(t, { user: { id: 1, username: 'ada' } })
  await all(source.groups(none))
  await all(source.projects(none))
  t.ok(forge.asked().some(url => /groups\?.*min_access_level=10/.test(url)))
  t.ok(forge.asked().some(url => /projects\?.*membership=true/.test(url)))
})

t.test('every field of the records of a project', async t => {
  const { source } = await subject(t)
  const { found, skipped } = await readRecords(source, await source.project('team/sub/tool'))
  const created_at = '2015-03-01T08:00:00.000Z'
  const made = { created_at, updated_at: created_at }
  t.match(found.project, [
    {
      name: 'Tool',
      path: 'tool',
      description: 'A tool',
      visibility_level: 10,
      archived: false,
      default_branch: 'main',
      builds_enabled: false,
      wiki_enabled: true,
      shared_runners_enabled: false,
      lfs_enabled: true,
      only_allow_merge_if_build_succeeds: true,
      tag_list: ['c', 'tools'],
      created_at,
      last_activity_at: '2024-01-02T03:04:05.678Z'
    }
  ])
  t.same(found.member, [
    { kind: 'member', username: 'ada', access_level: 40, expires_at: '2031-05-06', created_at },
    { kind: 'member', username: 'cleo', access_level: 20, expires_at: null, created_at }
  ])
  t.same(found.label, [
    { kind: 'label', title: 'bug', color: '#FF0000', description: 'Broken', priority: 1, ...made, subscriptions: [] },
    {
      kind: 'label',
      title: 'type::docs',
      color: '#808080',
      description: null,
      priority: null,
      ...made,
      subscriptions: []
    }
  ])
  const milestone = { kind: 'milestone', start_date: null, created_at: EARLY, updated_at: LATE }
  t.same(found.milestone, [
    { ...milestone, iid: 1, title: 'v1', description: 'First', due_date: null, state: 'closed' },
    { ...milestone, iid: 2, title: 'v2', description: null, due_date: '2024-02-29', state: 'active' },
    { ...milestone, iid: 3, title: 'Q1', description: null, due_date: null, state: 'active' }
  ])
  t.same(found.protected_branch, [
    { kind: 'protected_branch', name: 'main', developers_can_push: false, developers_can_merge: true, ...made },
    { kind: 'protected_branch', name: 'release-*', developers_can_push: true, developers_can_merge: false, ...made }
  ])
  t.match(found.release, [
    {
      tag: 'v1',
      description: '# The first\n\nSee #1\n\n- [tool.zip](https://files.example.com/tool.zip)',
      created_at: '2019-01-01T00:00:00.000Z'
    },
    { tag: 'v2', description: '' }
  ])
  t.same(found.board, [{ kind: 'board', created_at, lists: [{ label: 'bug', position: 0, created_at }] }])

  const planned = {
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
  const at = '2020-01-05T00:00:00.000Z'
  const issues = {
    ...planned,
    kind: 'issue',
    confidential: false,
    due_date: null,
    milestone: null,
    assignee: null,
    description: null
  }
  t.same(found.issue, [
    {
      ...issues,
      iid: 1,
      title: 'Issue 1',
      description: 'First\n\nwith ☕ and 🎉',
      state: 'opened',
      confidential: true,
      due_date: '2024-02-29',
      author: 'ada',
      assignee: 'bob',
      milestone: 3,
      time_estimate: 3600,
      total_time_spent: 60,
      labels: ['bug', 'gone'],
      participants: ['ada', 'bob'],
      award_emoji: [{ name: 'thumbsup', user: 'bob', created_at: at, updated_at: at }]
    },
    {
      ...issues,
      iid: 2,
      title: 'Issue 2',
      state: 'closed',
      author: null,
      participants: [],
      created_at: '1969-07-20T20:17:40.000Z'
    },
    { ...issues, iid: 3, title: 'No description', state: 'opened', author: null, participants: [] }
  ])
  t.same(found.merge_request, [
    {
      ...planned,
      kind: 'merge_request',
      iid: 1,
      title: 'Merge me',
      description: 'Closes #1',
      state: 'merged',
      author: 'ada',
      assignee: null,
      milestone: null,
      participants: ['ada', 'bob'],
      merge_status: 'can_be_merged',
      target_branch: 'main',
      source_branch: 'feature',
      fork: '70',
      head_sha: sha('a'),
      merge_commit_sha: sha('b'),
      merge_error: null,
      merge_user: 'ada',
      merge_message: null,
      should_remove_source_branch: null,
      force_remove_source_branch: true,
      versions: [
        {
          head_sha: sha('e'),
          base_sha: sha('d'),
          start_sha: sha('d'),
          state: 'collected',
          real_size: '2',
          created_at: '2020-02-01T00:00:00.000Z'
        },
        {
          head_sha: sha('a'),
          base_sha: sha('d'),
          start_sha: sha('d'),
          state: 'overflow',
          real_size: '1000+',
          created_at: '2020-02-02T00:00:00.000Z'
        }
      ]
    },
    {
      ...planned,
      kind: 'merge_request',
      iid: 2,
      title: 'Draft: from here',
      description: null,
      state: 'opened',
      author: 'ada',
      assignee: null,
      milestone: null,
      participants: ['ada'],
      merge_status: 'unchecked',
      target_branch: 'main',
      source_branch: 'fix',
      fork: null,
      head_sha: sha('c'),
      merge_commit_sha: null,
      merge_error: null,
      merge_user: null,
      merge_message: null,
      should_remove_source_branch: null,
      force_remove_source_branch: null,
      versions: []
    }
  ])
  t.match(found.snippet, [
    { number: 1, author: null, title: 'One', file_name: 'One', content: 'echo one\n', visibility_level: 20 },
    { number: 2, author: 'bob', title: 'Two files', file_name: 'a.sh', content: 'echo two\n', visibility_level: 0 },
    { number: 3, author: 'bob', title: 'Two files', file_name: 'd/b.sh', content: 'echo three\n' }
  ])

  const note = {
    kind: 'note',
    path: null,
    line: null,
    line_type: null,
    updated_by: null,
    refers: null,
    is_system: false
  }
  const on = (type: string, number: number) => ({
    ...note,
    on: { type, number, commit: null },
    created_at: EARLY,
    updated_at: LATE,
    award_emoji: []
  })
  const later = '2020-01-06T00:00:00.000Z'
  t.same(found.note, [
    { ...on('Issue', 1), author: 'ada', note: 'changed the description', is_system: true },
    {
      ...on('Issue', 1),
      author: 'bob',
      note: 'Hello @ada',
      award_emoji: [{ name: 'heart', user: 'ada', created_at: later, updated_at: later }]
    },
    { ...on('Issue', 1), author: null, note: '' },
    {
      ...on('Issue', 2),
      author: 'bob',
      note: 'Status changed to closed',
      is_system: true,
      created_at: '2020-03-01T00:00:00.000Z',
      updated_at: '2020-03-01T00:00:00.000Z'
    },
    { ...on('MergeRequest', 1), author: 'bob', note: 'Here', path: 'b.c', line: 12, line_type: 'new' },
    { ...on('MergeRequest', 1), author: 'bob', note: 'Note 12', path: 'b.c', line: 3, line_type: 'old' },
    { ...on('MergeRequest', 1), author: 'bob', note: 'Note 13' },
    {
      ...on('MergeRequest', 1),
      author: 'ada',
      note: 'Status changed to merged',
      is_system: true,
      created_at: '2020-04-01T00:00:00.000Z',
      updated_at: '2020-04-01T00:00:00.000Z'
    },
    { ...on('Snippet', 2), author: 'bob', note: 'Note 21' }
  ])
  t.match(found.pipeline, [
    {
      number: 1,
      ref: 'main',
      sha: sha('a'),
      status: 'skipped',
      source: 'push',
      user: 'bob',
      duration: 12,
      coverage: 87.5
    }
  ])
  t.match(found.build, [
    { pipeline: 1, name: 'build', stage: 'build', stage_index: 0, status: 'failed', start_when: 'on_success' },
    {
      pipeline: 1,
      name: 'deploy',
      stage: 'deploy',
      stage_index: 1,
      status: 'skipped',
      start_when: 'manual',
      tag_list: ['x'],
      environment: 'production'
    }
  ])
  t.match(found.hook, [
    {
      url: 'https://ci.example.com/hook',
      token: null,
      push_events: true,
      tag_push_events: false,
      issues_events: true,
      note_events: false,
      build_events: true,
      enable_ssl_verification: false,
      created_at: EARLY
    }
  ])
  t.same(found.variable, [
    {
      kind: 'variable',
      key: 'TOKEN',
      value: 'secret',
      masked: true,
      protected: true,
      environment_scope: 'prod/*',
      ...made
    }
  ])
  t.match(found.pipeline_schedule, [
    { description: 'Nightly', ref: 'main', cron: '0 1 * * *', owner: 'ada', variables: [{ key: 'FULL', value: 'yes' }] }
  ])
  t.match(found.environment, [
    {
      name: 'production',
      slug: 'production',
      external_url: 'https://example.com',
      state: 'available',
      tier: 'production'
    }
  ])
  t.match(found.deployment, [
    { iid: 1, environment: 'production', build: 2, ref: 'main', sha: sha('a'), user: 'bob', created_at: EARLY }
  ])
  t.equal(found.deployment?.length, 1)
  t.match(skipped, {
    'comments on commits: they need a request for each commit, which migrate add --commit-comments allows': 1,
    'resolved discussion: its notes come along, but nothing marks them as resolved': 1,
    'variable: its value is a file': 1,
    'variable: the source does not show its value': 1,
    'environment: its name is not one that an environment may have here': 1,
    'deployment: it has no job, or its environment is not among those of the project': 1,
    'time zone of a pipeline schedule: schedules here run in UTC': 1,
    'internal note: there are none here, and it must not become visible': 1,
    'issue: the source sends it in another form than its API describes': 1,
    'award emoji: there is no such emoji here': 1,
    'award emoji: the account was deleted': 1,
    'assignee: a record here has one': 1
  })
})

t.test('lists of many pages come whole, and a second run asks for each page once', async t => {
  const { source, forge, folder } = await subject(t, {
    'projects/7/issues': Array.from({ length: 250 }, (_, at) => issue(at + 1))
  })
  const first = await readRecords(source, await source.project('team/sub/tool'))
  t.same(
    first.found.issue?.map(({ iid }) => iid),
    Array.from({ length: 250 }, (_, at) => at + 1)
  )
  const asked = forge.asked().length
  t.equal(new Set(forge.asked()).size, asked, 'no page was asked for twice')
  const second = openSource(t, gitlab4, forge.url, { run: 2, folder })
  t.same(await readRecords(second.source, await second.source.project('team/sub/tool')), first)
  t.equal(forge.asked().length, asked * 2)
  t.equal(second.client.newest(), 1, 'no page has changed')
})

t.test('a busy forge is asked again, and a broken one ends the run with its name', async t => {
  let busy = 3
  const { source } = await subject(t, { 'projects/7/labels': () => (busy-- > 0 ? 429 : []) })
  const found = await source.project('team/sub/tool')
  t.notOk((await readRecords(source, found)).found.label)
  const broken = await subject(t, { 'projects/7/issues': { message: 'what?' } })
  await t.rejects(readRecords(broken.source, await broken.source.project('team/sub/tool')), {
    message: /projects\/7\/issues.* is not a list/
  })
  const failing = await subject(t, { 'projects/7/issues': 500 })
  await t.rejects(readRecords(failing.source, await failing.source.project('team/sub/tool')), {
    message: /issues.* status 500/
  })
})

t.test('texts get the references and files of this appliance', async t => {
  const { source, forge } = await subject(t)
  const found = await source.project('team/sub/tool')
  const web = forge.url.href.replace(/\/$/, '')
  const secret = '0123456789abcdef0123456789abcdef'
  const other = 'ffffffffffffffffffffffffffffffff'
  const file = `FILE(/api/v4/projects/7/uploads/${secret}/a.png a.png)`
  const cases = [
    [`![a](/uploads/${secret}/a.png)`, `![a](${file})`],
    [`${web}/team/sub/tool/uploads/${secret}/a.png`, `[a.png](${file})`],
    [`[a](${web}/-/project/7/uploads/${secret}/a.png)`, `[a](${file})`],
    // The token may read files of other projects, which the author of the text may not.
    [`[a](${web}/-/project/8/uploads/${other}/a.png)`, `[a](${web}/-/project/8/uploads/${other}/a.png)`],
    [`[a](/uploads/${secret}/..\\..\\..\\8\\variables)`, `[a](/uploads/${secret}/..\\..\\..\\8\\variables)`],
    [
      `[a](${web}/api/v4/projects/7/packages/generic/../../variables)`,
      `[a](${web}/api/v4/projects/7/packages/generic/../../variables)`
    ],
    [`[a](${web}/secret/project/uploads/${other}/a.png)`, `[a](${web}/secret/project/uploads/${other}/a.png)`],
    ['#1 !1 team/sub/tool#1 @ada @bob', '#1 !1 crew/tool#1 @ada.here @bob'],
    [`${web}/team/sub/tool/-/issues/3#note_5, ${web}/team/sub/tool/merge_requests/4/diffs`, '#3, !4'],
    [`${web}/team/sub/tool/-/commit/0123456789`, '0123456789'],
    [
      `[x](${web}/team/sub/tool/-/blob/main/a.c#L3) ${web}/team/sub/tool`,
      '[x](/crew/tool/blob/main/a.c#L3) [crew/tool](/crew/tool)'
    ],
    ['[x](/team/sub/tool/-/work_items/3) [y](/other/one)', '[x](/crew/tool/issues/3) [y](/other/one)'],
    [
      `[z](${web}/api/v4/projects/7/packages/generic/a/1.0/a%20b.zip)`,
      '[z](FILE(/api/v4/projects/7/packages/generic/a/1.0/a%20b.zip a b.zip))'
    ],
    ['`#1 @ada`', '`#1 @ada`']
  ] as const
  for (const [text, expected] of cases) t.equal(rewrite(source, found, text), expected)
  const old = await subject(t, { version: { version: '15.11.0' } })
  const older = await old.source.project('team/sub/tool')
  t.equal(older.avatarUrl, project.avatar_url)
  t.equal(
    rewrite(old.source, older, `[a](/uploads/${secret}/a.png)`),
    `[a](FILE(/team/sub/tool/uploads/${secret}/a.png a.png))`
  )
})

t.test('what only members see does not become visible to others', async t => {
  const { source } = await subject(t, {
    'projects/team%2Fsub%2Ftool': {
      ...project,
      visibility: 'public',
      issues_access_level: 'private',
      builds_access_level: 'private'
    }
  })
  const { found, skipped } = await readRecords(source, await source.project('team/sub/tool'))
  t.match(found.project, [{ visibility_level: 0, public_builds: false }])
  t.match(skipped, { 'visibility of the project: only members see some of its features, so it is private here': 1 })
})

t.test('a project with almost no fields', async t => {
  const { source } = await subject(t, {
    'projects/team%2Fsub%2Ftool': {
      ...Object.fromEntries(
        Object.entries(project).filter(([name]) => /^(id|name|path|path_with|visibility|http)/.test(name))
      )
    },
    'projects/7/members': 403,
    'projects/7/issues': [],
    'projects/7/merge_requests': 404
  })
  const { found } = await readRecords(source, await source.project('team/sub/tool'))
  t.match(found.project, [{ name: 'Tool', default_branch: null, created_at: '1970-01-01T00:00:00.000Z' }])
})

t.test('comments on commits come on request, oldest first, with their lines', async t => {
  const [one, two] = [sha('1'), sha('2')]
  const commits = 'projects/7/repository/commits'
  const { forge } = await subject(t, {
    [commits]: [{ id: one }, { id: two }, { id: one }, { id: 'no commit' }],
    [`${commits}/${one}/comments`]: [
      { note: 'Later', path: 'a.c', line: 3, line_type: 'new', author: { username: 'ada' }, created_at: LATE },
      { note: 5 }
    ],
    [`${commits}/${two}/comments`]: [
      { note: 'Early', path: 'a.c', line: null, line_type: null, author: { username: 'ghost' }, created_at: EARLY }
    ]
  })
  const { source } = openSource(t, gitlab4, forge.url, { commitComments: true })
  const { found, skipped } = await readRecords(source, await source.project('team/sub/tool'))
  const comments = found.note?.filter(({ on }) => (on as { type: string }).type === 'Commit')
  t.match(comments, [
    { on: { commit: two }, note: 'Early', author: null, path: null, line: null, created_at: EARLY },
    { on: { commit: one }, note: 'Later', author: 'ada', path: 'a.c', line: 3, line_type: 'new', created_at: LATE }
  ])
  t.equal(comments?.length, 2)
  t.equal(skipped['comments on commits: the source sends it in another form than its API describes'], 1)
  t.equal(forge.asked().filter(url => url.includes(`${one}/comments`)).length, 1)
})

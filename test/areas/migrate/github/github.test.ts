import { github } from '../../../../src/areas/migrate/github/github.js'
import type { Draft } from '../../../../src/areas/migrate/sources/source.js'
import t from '../../../helpers/tap.js'
import { all, readRecords, rewrite } from '../forge.js'
import { ada, conversation, repository, SHA, startGithub } from './conversation.js'

const pick = (drafts: readonly Draft[] = [], ...names: readonly string[]) =>
  drafts.map(draft => Object.fromEntries(names.map(name => [name, draft[name]])))

t.test('the addresses of the API', async t => {
  const base = (url: string) => github.base(new URL(url)).href
  t.equal(base('https://github.com/crew/tool'), 'https://api.github.com/')
  t.equal(base('https://www.github.com'), 'https://api.github.com/')
  t.equal(base('https://api.github.com'), 'https://api.github.com/')
  t.equal(base('https://crew.ghe.com'), 'https://api.crew.ghe.com/')
  t.equal(base('https://api.crew.ghe.com/'), 'https://api.crew.ghe.com/')
  t.equal(base('https://git.example:8443/x'), 'https://git.example:8443/api/v3/')
  t.equal(
    base('https://api.github.com.example'),
    'https://api.github.com.example/api/v3/',
    'the token goes to no other host'
  )
  t.equal(base('https://notgithub.com'), 'https://notgithub.com/api/v3/')
})

t.test('a repository is read with everything', async t => {
  const { source, forge } = await startGithub(t)
  const project = await source.project('crew/tool')
  t.match(project, { path: 'crew/tool', wikiUrl: 'https://github.example/crew/tool.wiki.git', size: 12_288 })
  const { found, skipped } = await readRecords(source, project)

  t.match(found.project, [
    {
      ...{
        name: 'tool',
        description: 'A tool ✨',
        visibility_level: 20,
        default_branch: 'main',
        tag_list: ['cli', 'git']
      },
      counters: { issue: 2, milestone: 2, merge_request: 5 }
    }
  ])
  t.same(pick(found.member, 'username', 'access_level'), [
    { username: 'ada', access_level: 40 },
    { username: 'ben', access_level: 30 },
    { username: 'eve', access_level: 20 }
  ])
  t.same(pick(found.label, 'title', 'color'), [
    { title: 'bug', color: '#d73a4a' },
    { title: 'one two', color: '#ffffff' }
  ])
  t.match(found.milestone, [{ iid: 2, state: 'closed', due_date: '2020-03-01' }])
  t.same(pick(found.protected_branch, 'name', 'developers_can_push', 'developers_can_merge'), [
    { name: 'main', developers_can_push: false, developers_can_merge: true },
    { name: 'release/1', developers_can_push: false, developers_can_merge: false }
  ])
  t.same(pick(found.release, 'tag', 'description', 'created_at'), [
    {
      tag: 'v1',
      description: '# First\n\nNotes with #3\n\n* [a b.zip](https://x.example/a.zip)',
      created_at: '2020-01-08T10:00:00.000Z'
    }
  ])
  t.match(found.hook, [
    {
      ...{ url: 'https://ci.example/h', token: null, push_events: true, tag_push_events: true, issues_events: false },
      ...{ merge_requests_events: true, note_events: false, enable_ssl_verification: true }
    }
  ])
  t.match(found.issue, [
    {
      ...{ iid: 1, author: 'ada', assignee: 'ben', milestone: 2, labels: ['one two'], description: 'See #3 and @ben' },
      participants: ['ben', 'ada', 'dependabot[bot]'],
      award_emoji: [{ name: 'tada', user: 'ben', created_at: '2020-01-02T10:00:00.000Z' }]
    },
    { iid: 2, state: 'closed', author: null, created_at: '1969-07-20T20:17:40.000Z' }
  ])
  t.match(found.merge_request, [
    {
      ...{ iid: 3, state: 'merged', merge_user: 'ben', merge_commit_sha: SHA('e'), fork: null, head_sha: SHA('b') },
      ...{ source_branch: 'topic', target_branch: 'main' },
      versions: [{ head_sha: SHA('b'), start_sha: SHA('a') }]
    },
    {
      iid: 4,
      state: 'opened',
      author: null,
      title: 'WIP: Change 4',
      fork: 'deleted ',
      merge_commit_sha: null,
      merge_user: null
    },
    { iid: 5, state: 'opened', fork: '99', participants: ['ben'], award_emoji: [{ name: 'rocket', user: 'ada' }] }
  ])
  t.same(
    found.note?.map(({ on, author, note, is_system, path, line, line_type: side }) => {
      const { type, number } = on as { type: string; number: number | null }
      return [`${type} ${number}`, author, note, ...(is_system ? ['system'] : []), ...(path ? [path, line, side] : [])]
    }),
    [
      ['Issue 2', null, 'Status changed to closed', 'system'],
      ['Issue 1', 'dependabot[bot]', 'Comment 11'],
      ['MergeRequest 3', 'ben', 'Comment 12'],
      ['MergeRequest 3', 'ben', 'Approved this merge request', 'system'],
      ['MergeRequest 3', 'ben', 'Good, see #1'],
      ['MergeRequest 3', 'ben', 'Comment 21', 'src/a.ts', 4, 'new'],
      ['MergeRequest 3', 'ben', 'Comment 22', 'src/a.ts', 2, 'old'],
      [
        'MergeRequest 3',
        'ben',
        '*On line 9 of `src/a.ts`, in an earlier version:*\n\n```diff\n@@ -1,2 +1,2 @@\n-old\n+new\n```\n\nComment 23'
      ],
      ['MergeRequest 3', null, ''],
      ['MergeRequest 3', 'ben', 'Status changed to merged', 'system'],
      ['MergeRequest 5', 'ben', 'Requested changes', 'system'],
      ['Commit null', 'ben', 'Comment 41', 'README.md', 3, 'new']
    ],
    'notes come in the order of time'
  )
  t.match(skipped, {
    'issue: the source sends it in another form than its API describes': 1,
    'release: it is a draft': 1,
    'rule of a protected branch: the token may not read it: only masters may push here': 1,
    'award emoji: the account was deleted': 1
  })
  t.equal(new Set(forge.asked()).size, forge.asked().length, 'no page is asked for twice')
})

t.test('lists that are hidden or switched off are reported', async t => {
  const answers = conversation()
  for (const [path, status] of [
    ['issues', 410],
    ['collaborators', 404],
    ['branches', 451],
    ['hooks', 404]
  ] as const)
    answers[`repos/crew/tool/${path}`] = status
  const { source } = await startGithub(t, { answers })
  const { found, skipped } = await readRecords(source, await source.project('crew/tool'))
  t.equal(found.issue, undefined)
  t.same(pick(found.merge_request, 'iid'), [{ iid: 3 }, { iid: 4 }, { iid: 5 }])
  const missing = 'the source does not have this list, or the token may not read it'
  t.match(skipped, { [`issue: ${missing}`]: 1, [`member: ${missing}`]: 1, [`protected branch: ${missing}`]: 1 })
})

t.test('a list without further pages than GitHub shows starts again with the last item', async t => {
  const { source, answers, forge } = await startGithub(t)
  const comments = Array.from({ length: 25_250 }, (_, at) => {
    // Every second one is from the second of the one before.
    const time = new Date(Date.parse('2020-01-01T00:00:00Z') + Math.floor(at / 2) * 1000).toISOString()
    return { id: 30_000 - at, body: '', user: ada, issue_url: 'x/issues/1', created_at: time, updated_at: time }
  })
  answers['repos/crew/tool/issues/comments'] = (query: URLSearchParams) => {
    if (Number(query.get('page') ?? 1) > 300) return 422
    const since = query.get('since')
    // An old one was edited since, and comes first.
    const edited = { ...comments[0], updated_at: '2021-01-01T00:00:00Z' }
    return since === null ? comments : [edited, ...comments.slice(1).filter(({ created_at }) => created_at >= since)]
  }
  let notes = 0
  const drafts = source.records(await source.project('crew/tool'), () => {})
  for await (const { note, is_system: isSystem } of drafts) if (note === '' && !isSystem) notes++
  t.equal(notes, 25_250)
  t.equal(forge.asked().filter(url => url.includes('since=')).length, 3)
})

t.test('texts get the references of this appliance', async t => {
  const { source, forge } = await startGithub(t)
  const project = await source.project('crew/tool')
  await readRecords(source, project)
  const web = forge.url.origin
  const texts: [string, string][] = [
    ['See #3, #1 and GH-4; `#3` is code', 'See !3, #1 and !4; `#3` is code'],
    ['> quoted #3', '> quoted !3'],
    ['@ada, not @crew/ops or a@ada.example', '@ada.here, not @crew/ops or a@ada.example'],
    ['crew/tool#3 and other/tool#3', 'crew/tool!3 and other/tool#3'],
    [`${web}/crew/tool/pull/3#issuecomment-9.`, '!3.'],
    [`${web}/crew/tool/issues/3`, '!3'],
    [`[here](${web}/crew/tool/issues/1)`, '[here](/crew/tool/issues/1)'],
    [`${web}/crew/tool/commit/abcdef1234`, 'abcdef1234'],
    [`[x](${web}/crew/tool/blob/main/a.ts#L5)`, '[x](/crew/tool/blob/main/a.ts#L5)'],
    [`${web}/other/tool/issues/1`, `${web}/other/tool/issues/1`],
    [
      `<img width="10" alt="a]shot" src="${web}/user-attachments/assets/1f-2">`,
      '![a shot](FILE(/user-attachments/assets/1f-2 image.png))'
    ],
    [`![log](${web}/crew/tool/files/12/log%20a.txt)`, '![log](FILE(/crew/tool/files/12/log%20a.txt log a.txt))'],
    [`${web}/other/tool/files/12/log.txt`, `${web}/other/tool/files/12/log.txt`],
    ['https://user-images.githubusercontent.com/1/2.png', '[2.png](FILE(/1/2.png 2.png))'],
    [
      `[a](${web}/api/v3/repos/crew/tool/releases/assets/5#a%20b.zip)`,
      '[a](FILE(/api/v3/repos/crew/tool/releases/assets/5 a b.zip))'
    ],
    [`${web}/api/v3/repos/crew/secret/releases/assets/5`, `${web}/api/v3/repos/crew/secret/releases/assets/5`],
    ['<img src="javascript:alert(1)"> <img src=x>', '<img src="javascript:alert(1)"> <img src=x>']
  ]
  for (const [before, after] of texts) t.equal(rewrite(source, project, before), after, before)
})

t.test('the token is sent for files only where the authors of the texts are members', async t => {
  const files = async (isPrivate: boolean) => {
    const answers = conversation()
    answers['repos/crew/tool'] = { ...repository, private: isPrivate }
    const { client } = await startGithub(t, { answers })
    const source = github.open(client, new URL('https://github.com'))
    const project = { path: 'crew/tool', raw: { ...repository, private: isPrivate } } as never
    const asked: { url: string; needsToken?: boolean }[] = []
    const file = (found: { url: string; needsToken?: boolean }) => String(asked.push(found))
    const into = { mention: (name: string) => name, file, project: () => null }
    source.text(
      project,
      'https://github.com/user-attachments/assets/12 https://user-images.githubusercontent.com/1.png',
      into
    )
    return asked.map(({ needsToken }) => needsToken)
  }
  t.same(await files(false), [false, false])
  t.same(await files(true), [true, false])
})

t.test('people, organizations and repositories', async t => {
  const none = () => {}
  const { source } = await startGithub(t)
  t.same(await source.about(), { version: '3.14.0', username: 'ada', isAdmin: false })
  t.match(await source.user('ada', none), {
    ...{ username: 'ada', name: 'Ada L.', email: null, isAdmin: false, state: 'active' },
    keys: [{ title: 'GitHub 1', key: 'ssh-ed25519 AAAA' }]
  })
  for (const name of ['crew', 'nobody', 'dependabot[bot]', '../user', '..'])
    t.equal(await source.user(name, none), null, name)
  t.same(await all(source.groups(none)), [
    {
      ...{ path: 'crew', name: 'The crew', description: null, visibility: 'public' },
      members: [
        { username: 'ada', level: 50 },
        { username: 'ben', level: 20 }
      ]
    }
  ])
  t.same(
    (await all(source.projects(none))).map(({ path }) => path),
    ['crew/tool']
  )
  t.match(await source.counts(await source.project('crew/tool')), { issue: 3, merge_request: 3, label: 2, release: 2 })
})

t.test('wrong projects are refused by name', async t => {
  const { source, answers } = await startGithub(t)
  for (const path of ['crew', '../user', 'crew/..', 'crew/tool/issues', 'crew/a?b']) {
    await t.rejects(source.project(path), /is not what the API of GitHub describes/, path)
  }
  answers['repos/crew/odd'] = { ...repository, full_name: 'crew/../../x' }
  await t.rejects(source.project('crew/odd'), /is not what the API of GitHub describes/)
  answers['repos/crew/gone'] = 451
  await t.rejects(source.project('crew/gone'), /repos\/crew\/gone answered with status 451/)
})

t.test('records whose dates are wrong come, and comments about nothing that was read are reported', async t => {
  const { source, answers } = await startGithub(t)
  const dated = (path: string, at: number, more: object) => {
    const list = answers[path] as object[]
    list[at] = { ...list[at], ...more }
  }
  const wrong = { created_at: '0000-00-00T00:00:00Z', updated_at: '0000-00-00T00:00:00Z' }
  dated('repos/crew/tool/issues', 0, wrong)
  dated('repos/crew/tool/pulls', 0, wrong)
  dated('repos/crew/tool/issues/comments', 0, wrong)
  dated('repos/crew/tool/pulls/comments', 0, { pull_request_url: 'https://x/pulls/999' })
  const { found, skipped } = await readRecords(source, await source.project('crew/tool'))
  const born = '1970-01-01T00:00:00.000Z'
  t.match(found.issue?.[0], { iid: 1, created_at: born })
  t.equal(found.merge_request?.filter(({ created_at }) => created_at === born).length, 1)
  t.equal(found.note?.filter(({ created_at }) => created_at === born).length, 1)
  t.equal(skipped['note: the source does not show what it belongs to'], 2)
})

// What a Gitea answers about one repository, written from the documentation of its API v1.
import type { Answer, ForgeOptions } from '../forge.js'

/** As Gitea does, lists say how many items there are, and some have links. */
export const GITEA: ForgeOptions = {
  api: '/api/v1',
  size: { name: 'limit', most: 50 },
  paging: ({ url, number, pages, total }) => {
    const next = new URL(url)
    next.searchParams.set('page', String(number + 1))
    const counted = { 'x-total-count': String(total) }
    if (number >= pages || !url.pathname.endsWith('/issues')) return counted
    return { ...counted, link: `<${next.href}>; rel="next"` }
  }
}

const user = (id: number, login: string) => ({
  id,
  login,
  full_name: '',
  email: `${login}@noreply.localhost`,
  username: login
})
const ada = user(1, 'ada')
export const bob = user(2, 'bob')
const ghost = { ...user(-1, 'Ghost'), email: 'ghost@noreply.localhost' }
const R = 'repos/team/tool'
export const UUID = '60aee4ea-041b-4797-a29c-015c885777da'
const OTHER_UUID = '70aee4ea-041b-4797-a29c-015c885777da'

export const repository = {
  id: 7,
  name: 'tool',
  full_name: 'team/tool',
  owner: { ...user(5, 'team'), visibility: 'limited' },
  private: false,
  internal: false,
  description: 'A tool',
  default_branch: 'main',
  archived: false,
  fork: true,
  parent: { id: 8, full_name: 'bob/tool', fork: true, parent: { id: 7, full_name: 'team/tool' } },
  clone_url: 'https://git.example.com/team/tool.git',
  avatar_url: '',
  size: 120,
  topics: ['c', 'tools'],
  has_issues: true,
  has_pull_requests: true,
  has_wiki: true,
  has_actions: false,
  created_at: '2019-05-06T07:08:09+02:00',
  updated_at: '2024-01-02T03:04:05Z'
}

const dates = { created_at: '2020-01-01T00:00:00Z', updated_at: '2020-01-02T00:00:00Z' }
const planned = {
  body: '',
  user: ada,
  original_author: '',
  state: 'open',
  labels: [],
  milestone: null,
  assignee: null,
  assignees: null,
  assets: [],
  comments: 0,
  due_date: null,
  ...dates
}
export const issue = (number: number, more: object = {}) => ({
  ...planned,
  id: 1000 + number,
  number,
  title: `Issue ${number}`,
  pull_request: null,
  ...more
})
const comment = (id: number, more: object = {}) => ({
  id,
  body: `Note ${id}`,
  user: bob,
  original_author: '',
  assets: [],
  issue_url: '',
  pull_request_url: '',
  ...dates,
  ...more
})
const sha = (digit: string) => digit.repeat(40)
const pull = (number: number, more: object) => ({
  ...planned,
  id: 2000 + number,
  number,
  title: `Pull ${number}`,
  draft: false,
  mergeable: true,
  merged: false,
  merged_at: null,
  merged_by: null,
  merge_commit_sha: null,
  merge_base: sha('d'),
  base: { label: 'main', ref: 'main', sha: sha('e'), repo_id: 7 },
  ...more
})

export function conversation(): { [path: string]: Answer } {
  return {
    version: { version: '1.24.6' },
    user: { ...ada, is_admin: true },
    'users/ada': {
      ...ada,
      full_name: 'Ada L',
      email: 'ada@example.com',
      is_admin: true,
      active: true,
      created: '2018-01-01T00:00:00Z'
    },
    'users/bob': { ...bob, email: 'bob@example.com', active: false, prohibit_login: true },
    'users/Ghost': ghost,
    'users/ada/keys': [{ id: 1, title: 'laptop', key: 'ssh-ed25519 AAAA ada' }],
    'users/bob/keys': [],
    'admin/orgs': [
      { id: 5, name: 'team', username: 'team', full_name: 'The Team', description: 'All', visibility: 'limited' }
    ],
    'user/orgs': [{ id: 5, name: 'team', username: 'team', full_name: '', description: '', visibility: 'public' }],
    'orgs/team': { id: 5, name: 'team', username: 'team' },
    'orgs/team/teams': [
      { id: 1, name: 'Owners', permission: 'owner', includes_all_repositories: true },
      {
        id: 2,
        name: 'devs',
        permission: 'none',
        units_map: { 'repo.code': 'write', 'repo.issues': 'read' },
        includes_all_repositories: true
      },
      { id: 3, name: 'some', permission: 'admin', includes_all_repositories: false }
    ],
    'teams/1/members': [ada],
    'teams/2/members': [ada, bob],
    'teams/3/members': [user(6, 'cleo'), ghost],
    'repos/search': (query: URLSearchParams) => ({
      ok: true,
      data: query.get('page') === '1' ? [repository, { id: 9 }] : []
    }),
    'user/repos': [repository],
    [R]: repository,
    [`${R}/collaborators`]: [user(7, 'dora')],
    [`${R}/collaborators/dora/permission`]: { permission: 'write', role_name: 'write', user: user(7, 'dora') },
    [`${R}/teams`]: [
      { id: 1, name: 'Owners', permission: 'owner', includes_all_repositories: true },
      { id: 3, name: 'some', permission: 'admin', includes_all_repositories: false }
    ],
    [`${R}/labels`]: [
      { id: 1, name: 'bug, bad', color: 'ff0000', description: 'Broken' },
      { id: 2, name: 'bug, bad', color: '00ff00', description: '' },
      { id: 3, name: 'odd', color: 'no color', description: '' }
    ],
    'orgs/team/labels': [{ id: 4, name: 'all', color: '0000ff', description: '' }],
    [`${R}/milestones`]: [
      {
        id: 31,
        title: 'v2',
        description: '',
        state: 'open',
        due_on: '2024-02-29T23:59:59Z',
        closed_at: null,
        ...dates
      },
      {
        id: 30,
        title: 'v1',
        description: 'First',
        state: 'closed',
        due_on: null,
        closed_at: '2020-01-01T00:00:00Z',
        ...dates
      }
    ],
    [`${R}/times`]: [
      { id: 1, created: '2020-01-03T00:00:00Z', time: 3600, user_id: 2, user_name: 'bob', issue: { number: 1 } }
    ],
    // The newest comes first, and issues and pull requests are in one list.
    [`${R}/issues`]: [
      { number: 8, title: 'not as documented' },
      issue(6, { user: ghost, created_at: '1969-07-20T20:17:40Z', state: 'closed', closed_at: '2020-01-02T00:00:00Z' }),
      issue(5, { pull_request: { merged: false } }),
      issue(4, { pull_request: { merged: false } }),
      issue(3, { pull_request: { merged: true } }),
      issue(2, { user: ada, original_author: 'octocat', body: null }),
      issue(1, {
        body: `Hello ☕ ![x](/attachments/${UUID}) #3`,
        user: bob,
        labels: [
          { id: 1, name: 'bug, bad' },
          { id: 9, name: 'gone' }
        ],
        milestone: { id: 31, title: 'v2' },
        assignees: [ada, bob],
        comments: 2,
        due_date: '2024-02-29T23:59:59Z',
        assets: []
      })
    ],
    // The list of issues leaves them out.
    [`${R}/issues/1/assets`]: [
      {
        id: 1,
        name: 'a b (1).png',
        uuid: UUID,
        browser_download_url: `https://git.example.com/attachments/${UUID}`
      },
      {
        id: 2,
        name: 'log.txt',
        uuid: OTHER_UUID,
        browser_download_url: `https://git.example.com/attachments/${OTHER_UUID}`
      }
    ],
    [`${R}/issues/1/reactions`]: [
      { user: ada, content: 'hooray', created_at: '2020-01-05T00:00:00Z' },
      { user: ada, content: '+1', created_at: '2020-01-05T00:00:00Z' },
      { user: ghost, content: 'heart', created_at: '2020-01-05T00:00:00Z' },
      { user: ada, content: 'gitea', created_at: '2020-01-05T00:00:00Z' }
    ],
    [`${R}/issues/1/subscriptions`]: [ada],
    [`${R}/issues/1/comments`]: [comment(1, { body: 'Hello @ada' }), comment(2, { user: ghost, body: null })],
    [`${R}/issues/comments/1/reactions`]: [{ user: ada, content: 'laugh', created_at: '2020-01-06T00:00:00Z' }],
    [`${R}/pulls`]: [
      pull(3, {
        body: 'Closes #1',
        state: 'closed',
        merged: true,
        merged_at: '2020-04-01T00:00:00Z',
        merged_by: null,
        merge_commit_sha: sha('b'),
        head: { label: 'feature', ref: 'refs/pull/3/head', sha: sha('a'), repo_id: 7, repo: null }
      }),
      pull(4, { head: { label: 'fix', ref: 'fix', sha: sha('c'), repo_id: 70, repo: { id: 70 } } }),
      pull(5, {
        state: 'closed',
        user: ghost,
        head: { label: 'gone', ref: 'gone', sha: sha('f'), repo_id: -1, repo: null }
      })
    ],
    [`${R}/pulls/3`]: pull(3, {
      merged: true,
      merged_by: ada,
      head: { label: 'feature', ref: 'refs/pull/3/head', sha: sha('a'), repo_id: 7, repo: null }
    }),
    [`${R}/pulls/3/reviews`]: [
      {
        id: 1,
        user: bob,
        state: 'REQUEST_CHANGES',
        body: 'please',
        comments_count: 3,
        submitted_at: '2020-02-01T00:00:00Z'
      },
      { id: 2, user: bob, state: 'APPROVED', body: '', comments_count: 0, submitted_at: '2020-03-01T00:00:00Z' },
      { id: 3, user: bob, state: 'PENDING', body: 'secret', comments_count: 1 },
      { id: 4, user: bob, state: 'REQUEST_REVIEW', body: '', comments_count: 0 }
    ],
    [`${R}/pulls/3/reviews/1/comments`]: [
      { id: 11, user: bob, body: 'here', path: 'a.c', position: 12, original_position: 0, resolver: null, ...dates },
      { id: 12, user: bob, body: 'gone', path: 'a.c', position: 0, original_position: 3, resolver: ada, ...dates },
      { id: 13, user: bob, body: 'file', path: 'a.c', position: 0, original_position: 0, ...dates }
    ],
    [`${R}/branch_protections`]: [
      { rule_name: 'main', branch_name: 'main', enable_push: false, enable_merge_whitelist: true, ...dates },
      {
        rule_name: 'release/*',
        branch_name: '',
        enable_push: true,
        enable_push_whitelist: false,
        enable_merge_whitelist: false,
        ...dates
      }
    ],
    [`${R}/hooks`]: [
      {
        id: 1,
        type: 'gitea',
        config: { url: 'https://ci.example.com/hook', content_type: 'json' },
        events: ['push', 'issue_comment', 'pull_request_label'],
        active: true,
        ...dates
      },
      { id: 2, type: 'slack', config: { url: 'https://chat.example.com' }, events: ['push'], active: true, ...dates }
    ],
    [`${R}/actions/variables`]: [{ owner_id: 0, repo_id: 7, name: 'VAR', data: '', description: '' }],
    [`${R}/actions/variables/VAR`]: { owner_id: 0, repo_id: 7, name: 'VAR', data: 'value', description: '' },
    [`${R}/releases`]: [
      { id: 3, tag_name: '', name: 'soon', body: '', draft: true, created_at: dates.created_at, assets: [] },
      { id: 2, tag_name: 'v2', name: 'v2', body: '', draft: false, created_at: dates.created_at, assets: [] },
      {
        id: 1,
        tag_name: 'v1',
        name: 'One',
        body: 'notes',
        draft: false,
        created_at: dates.created_at,
        assets: [
          {
            id: 3,
            name: 'tool.zip',
            uuid: UUID,
            browser_download_url: 'https://git.example.com/team/tool/releases/download/v1/tool.zip'
          }
        ]
      }
    ]
  }
}

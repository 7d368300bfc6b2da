// What GitHub answers about a small repository, written from its documentation.
import { github } from '../../../../src/areas/migrate/github/github.js'
import type { Test } from '../../../helpers/tap.js'
import { type Answer, type ForgeOptions, openSource, startForge } from '../forge.js'
import { startRepository } from '../repository.js'

export const SHA = (digit: string) => digit.repeat(40)
const at = (time: string) => ({ created_at: time, updated_at: time })
const day = (number: number, time = '10:00:00') => `2020-01-${String(number).padStart(2, '0')}T${time}Z`
export const ada = { login: 'ada', id: 1, type: 'User' }
const ben = { login: 'ben', id: 2, type: 'User' }
const ghost = { login: 'ghost', id: 10137, type: 'User' }
const robot = { login: 'dependabot[bot]', id: 49699333, type: 'Bot' }

export const repository = {
  id: 7,
  name: 'tool',
  full_name: 'crew/tool',
  private: false,
  visibility: 'public',
  owner: { login: 'crew', type: 'Organization' },
  description: 'A tool ✨',
  fork: false,
  clone_url: 'https://github.example/crew/tool.git',
  default_branch: 'main',
  archived: false,
  has_issues: true,
  has_wiki: true,
  topics: ['cli', 'git'],
  size: 12,
  pushed_at: day(20),
  ...at(day(1))
}

const issue = (number: number, more: object = {}) => ({
  id: 1000 + number,
  number,
  title: `Issue ${number}`,
  body: null,
  state: 'open',
  user: ada,
  assignee: null,
  assignees: [],
  labels: [],
  milestone: null,
  reactions: { total_count: 0 },
  ...at(day(number)),
  ...more
})

const pull = (number: number, more: object = {}) => ({
  ...issue(number),
  title: `Change ${number}`,
  draft: false,
  merged_at: null,
  merge_commit_sha: SHA('e'),
  requested_reviewers: [],
  head: { ref: 'topic', sha: SHA('b'), repo: { id: 7 }, user: ada },
  base: { ref: 'main', sha: SHA('a'), repo: { id: 7 }, user: ada },
  ...more
})

const PULLS = [
  pull(3, { state: 'closed', merged_at: day(6), draft: false }),
  pull(4, { user: null, draft: true, head: { ref: 'fix', sha: SHA('c'), repo: null, user: ghost } }),
  pull(5, { head: { ref: 'fix', sha: SHA('d'), repo: { id: 99 }, user: ben }, requested_reviewers: [ben] })
]

const comment = (id: number, number: number, time: string, more: object = {}) => ({
  id,
  body: `Comment ${id}`,
  user: ben,
  issue_url: `https://api.github.example/repos/crew/tool/issues/${number}`,
  reactions: { total_count: 0 },
  ...at(time),
  ...more
})

const inline = (id: number, time: string, more: object = {}) => ({
  ...comment(id, 3, time),
  pull_request_url: 'https://api.github.example/repos/crew/tool/pulls/3',
  path: 'src/a.ts',
  line: 4,
  original_line: 4,
  side: 'RIGHT',
  diff_hunk: '@@ -1,2 +1,2 @@\n-old\n+new',
  ...more
})

const event = (id: number, name: string, number: number, time: string, actor: object | null = ben) => ({
  id,
  event: name,
  actor,
  created_at: time,
  issue: { number }
})

/** The answers by their path below the API. Tests change their copy. */
export const conversation = (): { [path: string]: Answer } => ({
  user: { login: 'ada', site_admin: false },
  meta: { installed_version: '3.14.0' },
  'repos/crew/tool': repository,
  'repos/crew/tool/collaborators': [
    { ...ada, permissions: { admin: true, push: true }, role_name: 'admin' },
    { ...ben, permissions: { admin: false, push: true }, role_name: 'write' },
    { login: 'eve', permissions: { pull: true }, role_name: 'read' },
    ghost
  ],
  'repos/crew/tool/labels': [
    { name: 'bug', color: 'd73a4a', description: 'Broken' },
    { name: 'one, two', color: 'ffffff', description: null }
  ],
  'repos/crew/tool/milestones': [
    { number: 2, title: 'v2', description: 'Later', state: 'closed', due_on: '2020-03-01T08:00:00Z', ...at(day(2)) }
  ],
  'repos/crew/tool/branches': [{ name: 'main' }, { name: 'release/1' }],
  'repos/crew/tool/branches/main/protection': { required_pull_request_reviews: { url: 'x' }, restrictions: null },
  'repos/crew/tool/rulesets': [{ target: 'branch', enforcement: 'active' }],
  'repos/crew/tool/releases': [
    {
      ...{ id: 1, tag_name: 'v1', name: 'First', body: 'Notes with #3', draft: false, published_at: day(8) },
      ...{ created_at: day(7), assets: [{ id: 5, name: 'a b.zip', browser_download_url: 'https://x.example/a.zip' }] }
    },
    { id: 2, tag_name: 'v2', name: null, body: null, draft: true, created_at: day(9), assets: [] }
  ],
  'repos/crew/tool/hooks': [
    {
      id: 1,
      events: ['push', 'pull_request'],
      config: { url: 'https://ci.example/h', insecure_ssl: '0' },
      ...at(day(3))
    }
  ],
  'repos/crew/tool/issues': [
    issue(1, {
      body: 'See #3 and @ben',
      assignee: ben,
      assignees: [ben, ada],
      labels: [{ name: 'one, two' }, { name: 'unknown' }],
      milestone: { number: 2 },
      reactions: { total_count: 2 }
    }),
    issue(2, { state: 'closed', user: ghost, ...at('1969-07-20T20:17:40Z') }),
    { number: 'six' },
    ...PULLS.map(each => ({ ...each, pull_request: {}, reactions: { total_count: each.number === 5 ? 1 : 0 } }))
  ],
  'repos/crew/tool/issues/1/reactions': [
    { content: 'hooray', user: ben, created_at: day(2) },
    { content: '+1', user: null, created_at: day(2) }
  ],
  'repos/crew/tool/issues/5/reactions': [{ content: 'rocket', user: ada, created_at: day(6) }],
  'repos/crew/tool/pulls': PULLS,
  'repos/crew/tool/pulls/3/reviews': [
    { id: 31, user: ben, body: 'Good, see #1', state: 'APPROVED', submitted_at: day(5, '12:00:00') },
    { id: 32, user: ada, body: '', state: 'COMMENTED', submitted_at: day(5, '13:00:00') }
  ],
  'repos/crew/tool/pulls/4/reviews': [],
  'repos/crew/tool/pulls/5/reviews': [
    { id: 51, user: ben, body: '', state: 'CHANGES_REQUESTED', submitted_at: day(7) }
  ],
  'repos/crew/tool/issues/events': [
    event(4, 'closed', 3, day(6)),
    event(3, 'merged', 3, day(6)),
    event(2, 'labeled', 1, day(4)),
    event(1, 'closed', 2, day(2), null)
  ],
  'repos/crew/tool/issues/comments': [
    comment(11, 1, day(3), { user: robot, reactions: { total_count: 1 } }),
    comment(12, 3, day(5, '11:00:00')),
    comment(13, 3, day(5, '14:00:00'), { user: null, body: null }),
    comment(14, 77, day(9))
  ],
  'repos/crew/tool/issues/comments/11/reactions': [{ content: 'heart', user: ada, created_at: day(4) }],
  'repos/crew/tool/pulls/comments': [
    inline(21, day(5, '12:00:00')),
    inline(22, day(5, '12:30:00'), { side: 'LEFT', line: 2 }),
    inline(23, day(5, '12:40:00'), { line: null, original_line: 9 })
  ],
  'repos/crew/tool/comments': [{ ...comment(41, 0, day(8)), commit_id: SHA('a'), path: 'README.md', line: 3 }],
  'users/ada': { ...ada, name: 'Ada L.', email: 'ada@example.com', ...at(day(1)) },
  'users/ada/keys': [{ id: 1, key: 'ssh-ed25519 AAAA' }],
  'users/crew': { login: 'crew', type: 'Organization' },
  'user/orgs': [{ login: 'crew' }],
  'orgs/crew': {
    login: 'crew',
    name: 'The crew',
    description: null,
    public_repos: 1,
    default_repository_permission: 'read'
  },
  'orgs/crew/members?role=admin&per_page=100': [ada],
  'orgs/crew/members': [ada, ben],
  'orgs/crew/members?role=member&per_page=100': [ben],
  'user/repos': [repository, repository]
})

export interface GithubOptions {
  readonly answers?: { [path: string]: Answer }
}

/** Starts an own server of GitHub, and opens it. */
export async function startGithub(t: Test, { answers = conversation() }: GithubOptions = {}) {
  const forge = await serveGithub(t, answers)
  return { forge, answers, ...openSource(t, github, forge.url) }
}

export const GITHUB: ForgeOptions = {
  api: '/api/v3',
  size: { name: 'per_page', most: 100 },
  paging: ({ url, number, pages }): { readonly [name: string]: string } => {
    if (pages < 2) return {}
    const link = (page: number, rel: string) => {
      url.searchParams.set('page', String(page))
      return `<${url.href}>; rel="${rel}"`
    }
    return number < pages ? { link: `${link(number + 1, 'next')}, ${link(pages, 'last')}` } : { link: link(1, 'first') }
  }
}

export const serveGithub = (t: Test, answers: { [path: string]: Answer }) => startForge(t, answers, GITHUB)

/** The conversation about a repository that can be cloned. */
export async function cloneable(t: Test) {
  const { url, commits, received } = await startRepository(t)
  const ids = { a: commits.main, b: commits.topic, c: commits.fix, d: commits.other, e: commits.merge }
  let text = JSON.stringify(conversation()).replaceAll(repository.clone_url, url)
  for (const [digit, id] of Object.entries(ids)) text = text.replaceAll(SHA(digit), id)
  return { answers: JSON.parse(text) as { [path: string]: Answer }, commits, received }
}

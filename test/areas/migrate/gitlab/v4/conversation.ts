// What a GitLab answers about one project, written from the documentation of its API v4.
import type { Answer, ForgeOptions } from '../../forge.js'

export const GITLAB: ForgeOptions = {
  api: '/api/v4',
  size: { name: 'per_page', most: 100 },
  paging: ({ number, pages, total }) => ({
    'x-total': String(total),
    'x-next-page': number < pages ? String(number + 1) : ''
  })
}

const user = (id: number, username: string) => ({ id, username, name: username, state: 'active', web_url: 'https://x' })
const ada = user(1, 'ada')
const bob = user(2, 'bob')
const ghost = user(9, 'ghost')
const P = 'projects/7'
const SECRET = '0123456789abcdef0123456789abcdef'

export const project = {
  id: 7,
  name: 'Tool',
  path: 'tool',
  path_with_namespace: 'team/sub/tool',
  description: 'A tool',
  default_branch: 'main',
  visibility: 'internal',
  archived: false,
  http_url_to_repo: 'https://git.example.com/team/sub/tool.git',
  avatar_url: 'https://git.example.com/uploads/-/system/project/avatar/7/a.png',
  namespace: { id: 3, kind: 'group', full_path: 'team/sub' },
  statistics: { repository_size: 1_234_567, commit_count: 9 },
  shared_with_groups: [{ group_id: 4, group_name: 'guests', group_full_path: 'guests', group_access_level: 20 }],
  topics: ['c', 'tools'],
  issues_enabled: true,
  merge_requests_enabled: true,
  jobs_enabled: false,
  wiki_enabled: true,
  snippets_enabled: true,
  container_registry_enabled: false,
  lfs_enabled: true,
  shared_runners_enabled: false,
  public_jobs: true,
  request_access_enabled: true,
  only_allow_merge_if_pipeline_succeeds: true,
  only_allow_merge_if_all_discussions_are_resolved: false,
  forked_from_project: { id: 8, forked_from_project: { id: 7 } },
  created_at: '2015-03-01T10:00:00.000+02:00',
  last_activity_at: '2024-01-02T03:04:05.678Z'
}

const dates = { created_at: '2020-01-01T00:00:00.000Z', updated_at: '2020-01-02T00:00:00.000Z' }
const planned = {
  description: null,
  state: 'opened',
  author: ada,
  assignees: [],
  milestone: null,
  labels: [],
  time_stats: { time_estimate: 0, total_time_spent: 0, human_time_estimate: null },
  closed_at: null,
  closed_by: null,
  ...dates
}

export const issue = (iid: number, more: object = {}) => ({
  ...planned,
  id: 1000 + iid,
  iid,
  project_id: 7,
  title: `Issue ${iid}`,
  confidential: false,
  due_date: null,
  ...more
})

const note = (id: number, more: object = {}) => ({
  id,
  type: null,
  body: `Note ${id}`,
  author: bob,
  system: false,
  resolvable: false,
  confidential: false,
  internal: false,
  ...dates,
  ...more
})

const sha = (digit: string) => digit.repeat(40)

export function conversation(): { [path: string]: Answer } {
  return {
    version: { version: '17.5.1-ee', revision: 'abc' },
    user: { ...ada, is_admin: true },
    users: (query: URLSearchParams) =>
      [
        {
          ...ada,
          email: 'ada@example.com',
          confirmed_at: '2015-01-01T00:00:00Z',
          is_admin: true,
          created_at: '2015-01-01T00:00:00Z'
        },
        { ...bob, email: 'bob@example.com', confirmed_at: null, state: 'blocked', is_admin: false },
        { ...user(3, 'project_7_bot'), bot: true },
        ghost
      ].filter(each => (query.get('username') ?? each.username) === each.username),
    'users/1/keys': [{ id: 1, title: 'laptop', key: 'ssh-ed25519 AAAA ada' }],
    'users/2': {
      ...bob,
      email: 'bob@example.com',
      confirmed_at: null,
      public_email: 'bob@example.org',
      state: 'blocked'
    },
    'users/2/keys': [],
    groups: [
      { id: 2, name: 'Team', path: 'team', full_path: 'team', description: 'All', visibility: 'private' },
      { id: 3, name: 'Sub', path: 'sub', full_path: 'team/sub', description: '', visibility: 'private', parent_id: 2 },
      { id: 5, name: 'Odd' }
    ],
    'groups/2/members/all': [{ ...ada, access_level: 50, expires_at: null }],
    'groups/3/members/all': [
      { ...ada, access_level: 50, expires_at: null },
      { ...bob, access_level: 15, expires_at: '2030-01-01' },
      { ...bob, access_level: 30, expires_at: null },
      { ...user(4, 'eve'), access_level: 5, expires_at: null }
    ],
    'groups/4/members/all': [{ ...user(5, 'cleo'), access_level: 50 }],
    projects: [project, { id: 8 }],
    'projects/team%2Fsub%2Ftool': project,
    [`${P}/members`]: [{ ...ada, access_level: 50, expires_at: '2031-05-06' }],
    [`${P}/labels`]: [
      { id: 1, name: 'bug', color: '#FF0000', description: 'Broken', priority: 1, is_project_label: true },
      { id: 2, name: 'bug', color: '#00FF00', description: null, priority: null, is_project_label: false },
      { id: 3, name: 'type::docs', color: 'red', description: '', priority: null }
    ],
    [`${P}/milestones`]: [
      {
        id: 31,
        iid: 2,
        project_id: 7,
        title: 'v2',
        description: '',
        state: 'active',
        due_date: '2024-02-29',
        start_date: null,
        ...dates
      },
      {
        id: 30,
        iid: 1,
        project_id: 7,
        title: 'v1',
        description: 'First',
        state: 'closed',
        due_date: null,
        start_date: null,
        ...dates
      },
      {
        id: 40,
        iid: 1,
        group_id: 3,
        title: 'Q1',
        description: null,
        state: 'active',
        due_date: null,
        start_date: null,
        ...dates
      }
    ],
    [`${P}/protected_branches`]: [
      { id: 1, name: 'main', push_access_levels: [{ access_level: 40 }], merge_access_levels: [{ access_level: 30 }] },
      {
        id: 2,
        name: 'release-*',
        push_access_levels: [{ access_level: 30 }],
        merge_access_levels: [{ access_level: 0 }]
      }
    ],
    [`${P}/releases`]: [
      {
        tag_name: 'v1',
        name: 'The first',
        description: 'See #1',
        created_at: '2019-01-01T00:00:00.000Z',
        released_at: '2019-01-02T00:00:00.000Z',
        assets: {
          count: 3,
          sources: [],
          links: [{ id: 1, name: 'tool.zip', url: 'https://files.example.com/tool.zip' }]
        }
      },
      { tag_name: 'v2', name: 'v2', description: null, created_at: '2019-02-01T00:00:00.000Z', assets: { count: 0 } }
    ],
    [`${P}/boards`]: [
      {
        id: 1,
        name: 'Development',
        lists: [
          { id: 1, label: { id: 1, name: 'bug' }, position: 0 },
          { id: 2, position: 1 }
        ]
      },
      { id: 2, name: 'Other', lists: [] }
    ],
    [`${P}/hooks`]: [
      {
        id: 1,
        url: 'https://ci.example.com/hook',
        push_events: true,
        tag_push_events: false,
        issues_events: true,
        merge_requests_events: true,
        job_events: true,
        enable_ssl_verification: false,
        ...dates
      }
    ],
    [`${P}/variables`]: [
      {
        key: 'TOKEN',
        value: 'secret',
        variable_type: 'env_var',
        protected: true,
        masked: true,
        environment_scope: 'prod/*'
      },
      { key: 'FILE', value: 'text', variable_type: 'file' },
      { key: 'HIDDEN', value: null, variable_type: 'env_var', hidden: true }
    ],
    [`${P}/pipeline_schedules`]: [
      {
        id: 5,
        description: 'Nightly',
        ref: 'refs/heads/main',
        cron: '0 1 * * *',
        cron_timezone: 'Europe/Berlin',
        owner: ada,
        active: true,
        ...dates
      }
    ],
    [`${P}/pipeline_schedules/5`]: {
      id: 5,
      description: 'Nightly',
      ref: 'main',
      cron: '0 1 * * *',
      owner: ada,
      variables: [{ key: 'FULL', value: 'yes', variable_type: 'env_var' }],
      ...dates
    },
    [`${P}/environments`]: [
      {
        id: 1,
        name: 'production',
        slug: 'production',
        external_url: 'https://example.com',
        state: 'available',
        tier: 'production',
        ...dates
      },
      { id: 2, name: 'odd: name', slug: 'odd', external_url: null, state: 'stopped', ...dates }
    ],
    [`${P}/deployments`]: [
      {
        id: 6,
        iid: 1,
        ref: 'main',
        sha: sha('a'),
        user: bob,
        environment: { id: 1, name: 'production' },
        deployable: { id: 902, tag: false },
        status: 'success',
        created_at: dates.created_at
      },
      {
        id: 7,
        iid: 2,
        ref: 'main',
        sha: sha('a'),
        user: bob,
        environment: { id: 1, name: 'production' },
        deployable: null,
        status: 'success'
      }
    ],
    [`${P}/issues`]: [
      issue(1, {
        description: 'First\n\nwith ☕ and 🎉',
        confidential: true,
        due_date: '2024-02-29',
        labels: ['bug', 'gone'],
        milestone: { id: 40, iid: 1, title: 'Q1' },
        assignees: [bob, ada],
        time_stats: { time_estimate: 3600, total_time_spent: 60 }
      }),
      issue(2, {
        author: ghost,
        state: 'closed',
        closed_at: '2020-03-01T00:00:00.000Z',
        closed_by: bob,
        created_at: '1969-07-20T20:17:40.000Z'
      }),
      issue(3, { author: null, title: 'No description' }),
      { iid: 4, title: 'not as documented' }
    ],
    [`${P}/issues/1/award_emoji`]: [
      {
        id: 1,
        name: 'thumbsup',
        user: bob,
        created_at: '2020-01-05T00:00:00.000Z',
        awardable_id: 1001,
        awardable_type: 'Issue'
      },
      { id: 2, name: 'no_such_emoji_here', user: bob, created_at: '2020-01-05T00:00:00.000Z' },
      { id: 3, name: 'tada', user: null, created_at: '2020-01-05T00:00:00.000Z' }
    ],
    [`${P}/issues/1/notes`]: [
      note(1, { body: 'changed the description', system: true, author: ada }),
      note(2, { body: 'Hello @ada' }),
      note(3, { body: 'secret', internal: true }),
      note(4, { author: ghost, body: null })
    ],
    [`${P}/issues/1/notes/2/award_emoji`]: [
      { id: 9, name: 'heart', user: ada, created_at: '2020-01-06T00:00:00.000Z' }
    ],
    [`${P}/merge_requests`]: [
      {
        ...planned,
        id: 2001,
        iid: 1,
        title: 'Merge me',
        description: 'Closes #1',
        state: 'merged',
        merged_at: '2020-04-01T00:00:00.000Z',
        merged_by: ada,
        merge_user: ada,
        source_project_id: 70,
        target_project_id: 7,
        source_branch: 'feature',
        target_branch: 'main',
        sha: sha('a'),
        merge_commit_sha: null,
        squash_commit_sha: sha('b'),
        merge_status: 'can_be_merged',
        should_remove_source_branch: null,
        force_remove_source_branch: true
      },
      {
        ...planned,
        id: 2002,
        iid: 2,
        title: 'Draft: from here',
        state: 'locked',
        source_project_id: 7,
        target_project_id: 7,
        source_branch: 'fix',
        target_branch: 'main',
        sha: sha('c'),
        merge_status: 'checking',
        merged_by: null
      }
    ],
    [`${P}/merge_requests/1/versions`]: [
      {
        id: 12,
        head_commit_sha: sha('a'),
        base_commit_sha: sha('d'),
        start_commit_sha: sha('d'),
        created_at: '2020-02-02T00:00:00.000Z',
        state: 'overflow_diff_files_limit',
        real_size: '1000+'
      },
      {
        id: 11,
        head_commit_sha: sha('e'),
        base_commit_sha: sha('d'),
        start_commit_sha: sha('d'),
        created_at: '2020-02-01T00:00:00.000Z',
        state: 'collected',
        real_size: '2'
      }
    ],
    [`${P}/merge_requests/1/notes`]: [
      note(11, {
        type: 'DiffNote',
        body: 'Here',
        resolvable: true,
        resolved: true,
        position: {
          base_sha: sha('d'),
          start_sha: sha('d'),
          head_sha: sha('a'),
          old_path: 'a.c',
          new_path: 'b.c',
          position_type: 'text',
          old_line: null,
          new_line: 12
        }
      }),
      note(12, {
        type: 'DiffNote',
        position: { old_path: 'a.c', new_path: 'b.c', position_type: 'text', old_line: 3, new_line: null }
      }),
      note(13, {
        type: 'DiffNote',
        position: { old_path: 'a.png', new_path: 'a.png', position_type: 'image', x: 1, y: 2 }
      })
    ],
    [`${P}/snippets`]: [
      {
        id: 52,
        title: 'Two files',
        file_name: 'a.sh',
        visibility: 'private',
        author: bob,
        files: [
          { path: 'a.sh', raw_url: 'https://git.example.com/team/sub/tool/-/snippets/52/raw/main/a.sh' },
          { path: 'd/b.sh', raw_url: 'https://git.example.com/team/sub/tool/-/snippets/52/raw/main/d/b.sh' }
        ],
        ...dates
      },
      { id: 51, title: 'One', file_name: '', visibility: 'public', author: ghost, ...dates }
    ],
    [`${P}/snippets/51/raw`]: 'echo one\n',
    [`${P}/snippets/52/raw`]: 'echo two\n',
    [`${P}/snippets/52/files/main/d%2Fb.sh/raw`]: 'echo three\n',
    [`${P}/snippets/52/notes`]: [note(21)],
    [`${P}/pipelines`]: [{ id: 91, sha: sha('a'), ref: 'main', status: 'success' }],
    [`${P}/pipelines/91`]: {
      id: 91,
      iid: 1,
      sha: sha('a'),
      before_sha: '0'.repeat(40),
      ref: 'main',
      tag: false,
      status: 'manual',
      source: 'push',
      yaml_errors: null,
      user: bob,
      duration: 12.4,
      coverage: '87.50',
      created_at: '2020-01-01T00:00:00.000Z',
      updated_at: '2020-01-01T00:10:00.000Z',
      started_at: '2020-01-01T00:01:00.000Z',
      finished_at: '2020-01-01T00:09:00.000Z',
      committed_at: null
    },
    [`${P}/pipelines/91/jobs`]: [
      {
        id: 902,
        name: 'deploy',
        stage: 'deploy',
        ref: 'main',
        tag: false,
        status: 'manual',
        allow_failure: true,
        tag_list: ['x'],
        user: bob,
        coverage: null,
        commit: { id: sha('a') },
        created_at: '2020-01-01T00:00:00.000Z'
      },
      {
        id: 901,
        name: 'build',
        stage: 'build',
        ref: 'main',
        tag: false,
        status: 'failed',
        allow_failure: false,
        tag_list: [],
        user: bob,
        coverage: 87.5,
        failure_reason: 'script_failure',
        commit: { id: sha('a') },
        created_at: '2020-01-01T00:00:00.000Z',
        started_at: '2020-01-01T00:01:00.000Z',
        finished_at: '2020-01-01T00:02:00.000Z'
      }
    ],
    FILE: `${SECRET}/a b.png`
  }
}

// Checks the payloads for receivers, field by field.
import {
  buildPayload,
  type PayloadBuild,
  type PayloadPipelineBuild,
  pipelinePayload
} from '../../src/webhooks/build-payloads.js'
import type { PayloadProject, PayloadPushCommit, PayloadUser } from '../../src/webhooks/payloads.js'
import {
  type PayloadPush,
  pushEvent,
  pushPayload,
  shortPushPayload,
  systemPushPayload
} from '../../src/webhooks/push-payloads.js'
import {
  keyPayload,
  memberPayload,
  type PayloadSystemProject,
  projectMovePayload,
  projectPayload,
  samplePayload,
  userPayload
} from '../../src/webhooks/system-payloads.js'
import t from '../helpers/tap.js'

const zeros = '0'.repeat(40)
const moment = new Date('2026-01-02T03:04:05.678Z')
const later = new Date('2026-01-02T04:04:05Z')
const dates = { created_at: '2026-01-02T03:04:05.678Z', updated_at: '2026-01-02T04:04:05.000Z' }

const project: PayloadProject = {
  id: 15,
  name: 'Diaspora',
  pathWithNamespace: 'mike/diaspora',
  namespace: 'Mike',
  description: 'A network',
  webUrl: 'http://example.com/mike/diaspora',
  avatarUrl: null,
  gitSshUrl: 'git@example.com:mike/diaspora.git',
  gitHttpUrl: 'http://example.com/mike/diaspora.git',
  visibilityLevel: 0,
  defaultBranch: 'master'
}
const person: PayloadUser = { id: 4, name: 'John', username: 'john', email: 'john@example.com', avatarUrl: null }

const plainProject = {
  name: 'Diaspora',
  description: 'A network',
  web_url: 'http://example.com/mike/diaspora',
  avatar_url: null,
  git_ssh_url: 'git@example.com:mike/diaspora.git',
  git_http_url: 'http://example.com/mike/diaspora.git',
  namespace: 'Mike',
  visibility_level: 0,
  path_with_namespace: 'mike/diaspora',
  default_branch: 'master'
}
const fullProject = {
  ...plainProject,
  homepage: 'http://example.com/mike/diaspora',
  url: 'git@example.com:mike/diaspora.git',
  ssh_url: 'git@example.com:mike/diaspora.git',
  http_url: 'http://example.com/mike/diaspora.git'
}
const repository = {
  name: 'Diaspora',
  url: 'git@example.com:mike/diaspora.git',
  description: 'A network',
  homepage: 'http://example.com/mike/diaspora',
  git_http_url: 'http://example.com/mike/diaspora.git',
  git_ssh_url: 'git@example.com:mike/diaspora.git',
  visibility_level: 0
}

function commit(id: string): PayloadPushCommit {
  return {
    id,
    message: 'Fix\n\nit',
    timestamp: moment,
    url: `http://example.com/mike/diaspora/commit/${id}`,
    author: { name: 'Ann', email: 'ann@example.com' },
    added: ['a'],
    modified: [],
    removed: ['b']
  }
}
const viewedCommit = (id: string) => ({
  id,
  message: 'Fix\n\nit',
  timestamp: '2026-01-02T03:04:05.678Z',
  url: `http://example.com/mike/diaspora/commit/${id}`,
  author: { name: 'Ann', email: 'ann@example.com' }
})
const pushedCommit = (id: string) => ({ ...viewedCommit(id), added: ['a'], modified: [], removed: ['b'] })

t.test('payloads of pushes', async t => {
  const [before, after] = ['1'.repeat(40), '2'.repeat(40)]
  const move = { ref: 'refs/heads/tags/x', before, after, checkoutSha: after, message: null }
  const push: PayloadPush = { ...move, user: person, project }
  const viewed = {
    object_kind: 'push',
    event_name: 'push',
    before,
    after,
    ref: 'refs/heads/tags/x',
    checkout_sha: after,
    message: null,
    user_id: 4,
    user_name: 'John',
    user_email: 'john@example.com',
    user_avatar: null,
    project_id: 15,
    project: fullProject,
    repository
  }
  const commits = Array.from({ length: 25 }, (_, index) => commit(`c${index}`))

  const some = pushPayload(push, { commits: commits.slice(0, 2), totalCommitsCount: 2 })
  t.strictSame(some, { ...viewed, commits: [pushedCommit('c0'), pushedCommit('c1')], total_commits_count: 2 })
  const many = pushPayload(push, { commits, totalCommitsCount: 4000 })
  t.strictSame(
    many.commits.map(({ id }) => id),
    commits.slice(5).map(({ id }) => id),
    'the last 20, oldest first'
  )
  t.equal(many.total_commits_count, 4000)
  t.strictSame(systemPushPayload(push), { ...viewed, commits: [], total_commits_count: 0 })

  const deletion = { ...push, after: zeros }
  const deleted = { ...viewed, after: zeros, checkout_sha: null, commits: [], total_commits_count: 0 }
  t.strictSame(pushPayload(deletion, { commits, totalCommitsCount: 25 }), deleted)
  t.strictSame(systemPushPayload(deletion), deleted)

  const tag = { ...push, ref: 'refs/tags/v1', before: zeros, checkoutSha: '3'.repeat(40), message: 'One' }
  const tagged = {
    ...viewed,
    object_kind: 'tag_push',
    event_name: 'tag_push',
    before: zeros,
    ref: 'refs/tags/v1',
    checkout_sha: '3'.repeat(40),
    message: 'One'
  }
  const single = { commits: [pushedCommit('c0')], total_commits_count: 1 }
  t.strictSame(pushPayload(tag, { commits: [commit('c0')], totalCommitsCount: 1 }), { ...tagged, ...single })
  t.strictSame(systemPushPayload(tag), { ...tagged, commits: [], total_commits_count: 0 })
  t.equal(pushEvent('refs/heads/master'), 'push')
})

t.test('a stored push is within its length limit', async t => {
  const long = (id: string): PayloadPushCommit => ({
    ...commit(id),
    message: 'm'.repeat(1000),
    added: ['p'.repeat(3000)]
  })
  const after = '2'.repeat(40)
  const move = { ref: 'refs/heads/x', before: zeros, after, checkoutSha: after, message: 't'.repeat(1000) }
  const commits = ['a', 'b', 'c'].map(long)
  const push = pushPayload({ ...move, user: person, project }, { commits, totalCommitsCount: 3 })
  const short = (limit: number) => {
    const shorter = shortPushPayload(push, limit)
    t.ok(JSON.stringify(shorter).length <= limit, `${limit}`)
    return shorter
  }
  t.equal(short(50_000), push)
  t.strictSame(short(10_000), {
    ...push,
    commits: push.commits.map(entry => ({ ...entry, added: [], modified: [], removed: [] }))
  })
  t.match(short(4000), { message: 't'.repeat(200), commits: [{ message: 'm'.repeat(200), added: [] }, {}, {}] })
  t.match(short(2500), { message: 't'.repeat(200), commits: [], total_commits_count: 3 })
})

t.test('payloads of system events', async t => {
  const systemProject: PayloadSystemProject = {
    id: 15,
    name: 'Diaspora',
    path: 'diaspora',
    pathWithNamespace: 'mike/diaspora',
    visibilityLevel: 10,
    owner: { name: 'Some Group', email: '' },
    createdAt: moment,
    updatedAt: later
  }
  const fields = {
    ...dates,
    name: 'Diaspora',
    path: 'diaspora',
    path_with_namespace: 'mike/diaspora',
    project_id: 15,
    owner_name: 'Some Group',
    owner_email: '',
    project_visibility: 'internal'
  }
  for (const event of ['project_create', 'project_destroy'] as const) {
    t.strictSame(projectPayload(event, systemProject), { event_name: event, ...fields })
  }
  for (const event of ['project_rename', 'project_transfer'] as const) {
    const moved = { event_name: event, ...fields, old_path_with_namespace: 'mike/old' }
    t.strictSame(projectMovePayload(event, systemProject, 'mike/old'), moved)
  }

  const user = { id: 4, name: 'John', username: 'john', email: 'john@example.com', createdAt: moment, updatedAt: later }
  for (const event of ['user_create', 'user_destroy'] as const) {
    const viewed = {
      event_name: event,
      ...dates,
      name: 'John',
      email: 'john@example.com',
      user_id: 4,
      username: 'john'
    }
    t.strictSame(userPayload(event, user), viewed)
  }

  const member = { accessLevel: 40, user, project: systemProject, createdAt: moment, updatedAt: later }
  for (const event of ['user_add_to_team', 'user_remove_from_team'] as const) {
    t.strictSame(memberPayload(event, member), {
      event_name: event,
      ...dates,
      project_name: 'Diaspora',
      project_path: 'diaspora',
      project_path_with_namespace: 'mike/diaspora',
      project_id: 15,
      user_username: 'john',
      user_name: 'John',
      user_email: 'john@example.com',
      user_id: 4,
      access_level: 'Master',
      project_access: 'Master',
      project_visibility: 'internal'
    })
  }
  const roles = [10, 20, 30, 40, 50].map(
    accessLevel => memberPayload('user_add_to_team', { ...member, accessLevel }).access_level
  )
  t.strictSame(roles, ['Guest', 'Reporter', 'Developer', 'Master', 'Owner'])

  const key = { id: 7, key: 'ssh-ed25519 AAAA john', username: 'john', createdAt: moment, updatedAt: later }
  for (const event of ['key_create', 'key_destroy'] as const) {
    const viewed = { event_name: event, ...dates, id: 7, key: 'ssh-ed25519 AAAA john', username: 'john' }
    t.strictSame(keyPayload(event, key), viewed)
  }

  const sample = samplePayload()
  t.strictSame(Object.keys(sample).sort(), ['event_name', 'name', 'owner_email', 'owner_name', 'path', 'project_id'])
  t.match(sample, { event_name: 'project_create', project_id: 1, owner_name: 'Someone' })
})

t.test('payloads of builds', async t => {
  const build: PayloadBuild = {
    id: 9,
    name: 'rspec',
    stage: 'test',
    status: 'success',
    ref: 'master',
    tag: false,
    beforeSha: zeros,
    sha: '2'.repeat(40),
    startedAt: moment,
    finishedAt: later,
    duration: 3599.3,
    allowFailure: false,
    user: person,
    project,
    projectName: 'Mike / Diaspora',
    pipeline: { id: 31, status: 'running', duration: null, startedAt: moment, finishedAt: null },
    commit: { message: 'Fix', authorName: 'Ann', authorEmail: 'ann@example.com' }
  }
  const viewed = {
    object_kind: 'build',
    ref: 'master',
    tag: false,
    before_sha: zeros,
    sha: '2'.repeat(40),
    build_id: 9,
    build_name: 'rspec',
    build_stage: 'test',
    build_status: 'success',
    build_started_at: '2026-01-02T03:04:05.678Z',
    build_finished_at: '2026-01-02T04:04:05.000Z',
    build_duration: 3599.3,
    build_allow_failure: false,
    project_id: 15,
    project_name: 'Mike / Diaspora',
    user: { id: 4, name: 'John', email: 'john@example.com' },
    commit: {
      id: 31,
      sha: '2'.repeat(40),
      message: 'Fix',
      author_name: 'Ann',
      author_email: 'ann@example.com',
      status: 'running',
      duration: null,
      started_at: '2026-01-02T03:04:05.678Z',
      finished_at: null
    },
    repository
  }
  t.strictSame(buildPayload(build), viewed)
  const young = { ...build, status: 'created', startedAt: null, finishedAt: null, duration: null, user: null }
  t.strictSame(buildPayload(young), {
    ...viewed,
    build_status: 'created',
    build_started_at: null,
    build_finished_at: null,
    build_duration: null,
    user: { id: null, name: null, email: null }
  })
})

t.test('payloads of pipelines', async t => {
  const build: PayloadPipelineBuild = {
    id: 9,
    stage: 'test',
    name: 'rspec',
    status: 'success',
    createdAt: moment,
    startedAt: moment,
    finishedAt: later,
    when: 'on_success',
    manual: false,
    user: person,
    runner: { id: 3, description: 'shared', active: true, isShared: true },
    artifactsFile: { filename: 'artifacts.zip', size: 1024 }
  }
  const bare = { ...build, startedAt: null, finishedAt: null, user: null, runner: null, artifactsFile: null }
  const attributes = { id: 31, ref: 'v1', tag: true, sha: '2'.repeat(40), status: 'success', duration: 63 }
  const payload = pipelinePayload({
    ...attributes,
    beforeSha: zeros,
    stages: ['build', 'test'],
    createdAt: moment,
    finishedAt: null,
    user: null,
    project,
    commit: commit('c0'),
    builds: [build, bare]
  })
  const user = { name: 'John', username: 'john', avatar_url: null }
  const viewedBuild = {
    id: 9,
    stage: 'test',
    name: 'rspec',
    status: 'success',
    created_at: '2026-01-02T03:04:05.678Z',
    started_at: '2026-01-02T03:04:05.678Z',
    finished_at: '2026-01-02T04:04:05.000Z',
    when: 'on_success',
    manual: false,
    user,
    runner: { id: 3, description: 'shared', active: true, is_shared: true },
    artifacts_file: { filename: 'artifacts.zip', size: 1024 }
  }
  const viewedBare = {
    ...viewedBuild,
    started_at: null,
    finished_at: null,
    user: null,
    runner: null,
    artifacts_file: { filename: null, size: null }
  }
  t.strictSame(payload, {
    object_kind: 'pipeline',
    object_attributes: {
      ...attributes,
      before_sha: zeros,
      stages: ['build', 'test'],
      created_at: '2026-01-02T03:04:05.678Z',
      finished_at: null
    },
    user: null,
    project: plainProject,
    commit: viewedCommit('c0'),
    builds: [viewedBuild, viewedBare]
  })
})

// A change has the same effects through every front door: each change of this table runs once as a command and once as a
// request, with the same rows and repositories, and all resulting rows are compared.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { closeDatabase } from '../src/db/connect/connection.js'
import { execute, rows } from '../src/db/connect/sql.js'
import { closeGitProcesses } from '../src/git/repository/processes.js'
import { makeMergeRequest, makeProject } from './areas/planning/merge-requests/make-merge-requests.js'
import { type Asker, testApp } from './helpers/app.js'
import { cli } from './helpers/cli.js'
import { testDatabase } from './helpers/database.js'
import { runJobs } from './helpers/jobs.js'
import { newKey } from './helpers/ssh-keys.js'
import t from './helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const { as, make } = await testApp(t)

const admin = await make.admin({ username: 'root-of-all' })
const ada = await make.user({ username: 'ada' })
const bert = await make.user({ username: 'bert' })
const cleo = await make.user({ username: 'cleo' })
const team = await make.group({ path: 'team', owner: ada })
const project = await makeProject({ owner: ada, path: 'engine', name: 'engine' })
await make.member(project, 40, bert)
await make.groupMember(team, 30, bert)
const owner = as(ada)
const { id: mergeRequest } = await makeMergeRequest(project, { assignee_id: ada.id })
const issue = (
  await owner.post(`/projects/${project.id}/issues`, { title: 'It breaks', assignee_id: bert.id, labels: 'bug' })
).json().id
await owner.post(`/projects/${project.id}/milestones`, { title: 'v1' })
const milestone = (await owner.get(`/projects/${project.id}/milestones`)).json()[0].id
await owner.post(`/projects/${project.id}/merge_requests/${mergeRequest}/todo`)
await as(bert).post(`/projects/${project.id}/issues/${issue}/notes`, { body: 'so it does, @ada' })
const closed = (await owner.post(`/projects/${project.id}/issues`, { title: 'It broke' })).json().id
await owner.put(`/projects/${project.id}/issues/${closed}`, { state_event: 'close' })
const key = (await owner.post('/user/keys', { title: 'old laptop', key: newKey('old') })).json().id
const email = (await owner.post('/user/emails', { email: 'ada@old.example.org' })).json().id
const deployKey = (await owner.post(`/projects/${project.id}/deploy_keys`, { title: 'old', key: newKey('srv') })).json()
  .id
await owner.post(`/projects/${project.id}/variables`, { key: 'OLD', value: 'old' })
const dora = await make.user({ username: 'dora', blocked: true })
const retired = await make.project({ owner: ada, path: 'retired', name: 'retired' })
await owner.post(`/projects/${retired.id}/archive`)
await runJobs()

interface Change {
  readonly command: readonly string[]
  readonly input?: string
  readonly request: (asker: Asker) => Promise<{ statusCode: number; body: string }>
  /** The caller over HTTP: an administrator, unless the change needs a user's own rights. */
  readonly by?: Asker
  /** Tables that differ by design. */
  readonly differs?: readonly string[]
}

const at = `/projects/${project.id}`
const NAME = 'ada/engine'
const KEY = newKey('laptop')

/** A command has no user. So the feed has no entry for it, and the record no system note: only the audit knows who ran it. */
const NO_USER = ['activity_events', 'notes']

const CHANGES: { readonly [name: string]: Change } = {
  'add a member': {
    command: ['members', 'add', NAME, 'cleo', '--level', 'developer'],
    request: api => api.post(`${at}/members`, { user_id: cleo.id, access_level: 30 })
  },
  'change a member': {
    command: ['members', 'set', NAME, 'bert', '--level', 'reporter'],
    request: api => api.put(`${at}/members/${bert.id}`, { access_level: 20 })
  },
  'remove a member, with the to-dos': {
    command: ['members', 'remove', NAME, 'bert', '--yes'],
    request: api => api.delete(`${at}/members/${bert.id}`)
  },
  'remove a member of a group': {
    command: ['members', 'remove', 'team', 'bert', '--yes'],
    request: api => api.delete(`/groups/${team.id}/members/${bert.id}`)
  },
  'merge, which marks the to-do of the merger as done': {
    command: ['merge-requests', 'merge', NAME, '1', '--user', 'ada'],
    request: api => api.put(`${at}/merge_requests/${mergeRequest}/merge`),
    by: owner
  },
  'close a merge request': {
    command: ['merge-requests', 'close', NAME, '1'],
    request: api => api.put(`${at}/merge_requests/${mergeRequest}`, { state_event: 'close' }),
    differs: NO_USER
  },
  'close an issue': {
    command: ['issues', 'close', NAME, '1'],
    request: api => api.put(`${at}/issues/${issue}`, { state_event: 'close' }),
    differs: NO_USER
  },
  'create a label': {
    command: ['labels', 'create', 'urgent', '--project', NAME, '--color', '#d9534f'],
    request: api => api.post(`${at}/labels`, { name: 'urgent', color: '#d9534f' })
  },
  'delete a label': {
    command: ['labels', 'delete', 'bug', '--project', NAME, '--yes'],
    request: api => api.delete(`${at}/labels`, { name: 'bug' })
  },
  'create a milestone': {
    command: ['milestones', 'create', NAME, 'v2', '--due', '2027-03-01'],
    request: api => api.post(`${at}/milestones`, { title: 'v2', due_date: '2027-03-01' }),
    differs: NO_USER
  },
  'close a milestone': {
    command: ['milestones', 'close', NAME, 'v1'],
    request: api => api.put(`${at}/milestones/${milestone}`, { state_event: 'close' }),
    differs: NO_USER
  },
  'archive a project': {
    command: ['projects', 'archive', NAME],
    request: api => api.post(`${at}/archive`)
  },
  'transfer a project': {
    command: ['projects', 'transfer', NAME, 'team'],
    request: api => api.post(`/groups/${team.id}/projects/${project.id}`)
  },
  'delete a project': {
    command: ['projects', 'delete', NAME, '--yes'],
    request: api => api.delete(at)
  },
  'create a group': {
    command: ['groups', 'create', 'crew', '--owner', 'ada'],
    request: api => api.post('/groups', { name: 'crew', path: 'crew' }),
    by: owner,
    // Over HTTP the owner is the caller, who gets no mail about it.
    differs: ['mails', 'mail_deliveries']
  },
  'change a group': {
    command: ['groups', 'update', 'team', '--path', 'crew'],
    request: api => api.put(`/groups/${team.id}`, { path: 'crew' })
  },
  'delete a group': {
    command: ['groups', 'delete', 'team', '--yes'],
    request: api => api.delete(`/groups/${team.id}`)
  },
  'create a user': {
    command: [
      'users',
      'create',
      '--username',
      'eve',
      '--email',
      'eve@example.org',
      '--name',
      'Eve',
      '--password-stdin'
    ],
    input: 'a long password\n',
    request: api =>
      api.post('/users', { username: 'eve', email: 'eve@example.org', name: 'Eve', password: 'a long password' })
  },
  'change a user': {
    command: ['users', 'set', 'bert', '--name', 'Bertram'],
    request: api => api.put(`/users/${bert.id}`, { name: 'Bertram' })
  },
  'block a user': {
    command: ['users', 'block', 'bert'],
    request: api => api.put(`/users/${bert.id}/block`)
  },
  'delete a user': {
    command: ['users', 'delete', 'bert', '--yes'],
    request: api => api.delete(`/users/${bert.id}`)
  },
  'add a key': {
    command: ['keys', 'add', '--user', 'ada', '--title', 'laptop'],
    input: KEY,
    request: api => api.post(`/users/${ada.id}/keys`, { title: 'laptop', key: KEY })
  },
  'add a deploy key': {
    command: ['deploy-keys', 'add', '--project', NAME, '--title', 'server'],
    input: KEY,
    request: api => api.post(`${at}/deploy_keys`, { title: 'server', key: KEY })
  },
  'add an address': {
    command: ['emails', 'add', '--user', 'ada', 'ada@home.example.org'],
    request: api => api.post(`/users/${ada.id}/emails`, { email: 'ada@home.example.org' })
  },
  'set a variable': {
    command: ['variables', 'set', NAME, 'WHERE'],
    input: 'here',
    request: api => api.post(`${at}/variables`, { key: 'WHERE', value: 'here' })
  },
  'add a system hook': {
    command: ['hooks', 'add', '--url', 'https://hooks.example.org/'],
    request: api => api.post('/hooks', { url: 'https://hooks.example.org/' })
  },
  'reopen an issue': {
    command: ['issues', 'reopen', NAME, '2'],
    request: api => api.put(`${at}/issues/${closed}`, { state_event: 'reopen' }),
    differs: NO_USER
  },
  'remove a key': {
    command: ['keys', 'remove', String(key), '--yes'],
    request: api => api.delete(`/users/${ada.id}/keys/${key}`)
  },
  'remove an address': {
    command: ['emails', 'remove', String(email), '--yes'],
    request: api => api.delete(`/users/${ada.id}/emails/${email}`)
  },
  'remove a deploy key': {
    command: ['deploy-keys', 'remove', String(deployKey), '--yes'],
    request: api => api.delete(`${at}/deploy_keys/${deployKey}`)
  },
  'remove a variable': {
    command: ['variables', 'unset', NAME, 'OLD', '--yes'],
    request: api => api.delete(`${at}/variables/OLD`)
  },
  'unblock a user': {
    command: ['users', 'unblock', 'dora'],
    request: api => api.put(`/users/${dora.id}/unblock`)
  },
  'create a project': {
    command: ['projects', 'create', 'ada/gears', '--visibility', 'internal'],
    request: api => api.post('/projects', { name: 'gears', visibility_level: 10 }),
    by: owner
  },
  'take a project out of the archive': {
    command: ['projects', 'unarchive', 'ada/retired'],
    request: api => api.post(`/projects/${retired.id}/unarchive`)
  },
  'change a setting': {
    command: ['settings', 'set', 'default_projects_limit', '25'],
    request: api => api.put('/application/settings', { default_projects_limit: 25 })
  }
}

/** Columns about the front door itself: who made the change, from where, in which process; or random values. */
const IGNORED: ReadonlySet<string> = new Set([
  'deploy_keys.user_id',
  'issues.updated_by_id',
  'mails.author_id',
  'merge_requests.updated_by_id',
  'ref_changes.process',
  'users.private_token_encrypted',
  'users.private_token_hash'
])

/** Tables of the front door itself. */
const OF_THE_DOOR: ReadonlySet<string> = new Set([
  'audit_events',
  // The number of transactions.
  'content_versions',
  // Spread over random rows.
  'issue_counts',
  'job_processes',
  'job_totals',
  'machines',
  'storages',
  'queue_minutes',
  'schedule_ticks',
  'user_uses',
  'last_uses'
])

type Row = Readonly<Record<string, unknown>>
type Rows = Readonly<Record<string, readonly Row[]>>

interface Table {
  readonly name: string
  /** Without generated columns. */
  readonly columns: readonly string[]
}

const tables = await readTables()

async function readTables(): Promise<readonly Table[]> {
  const found = await rows<{ name: string; columns: string }>(
    `select c.table_name as name, group_concat(c.column_name order by c.ordinal_position) as columns
     from information_schema.columns c join information_schema.tables t
       on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
     where c.table_schema = database() and c.extra not like '%GENERATED%' and c.table_name not like 'schema_%'
     group by c.table_name`
  )
  return found.map(({ name, columns }) => ({ name, columns: columns.split(',') }))
}

const quoted = (columns: readonly string[]) => columns.map(column => `\`${column}\``).join(', ')

async function readRows(): Promise<Rows> {
  const all: Record<string, readonly Row[]> = {}
  for (const { name, columns } of tables) all[name] = await rows<Row>(`select ${quoted(columns)} from ${name}`)
  return all
}

async function restore(all: Rows): Promise<void> {
  await closeGitProcesses()
  await closeDatabase()
  for (const { name, columns } of tables) {
    await execute(`truncate table ${name}`)
    for (const row of all[name] ?? []) {
      const values = columns.map(column => row[column] as string)
      await execute(`insert into ${name} (${quoted(columns)}) values (${columns.map(() => '?').join(', ')})`, values)
    }
  }
  rmSync(join(home, 'repositories'), { recursive: true })
  cpSync(join(home, 'saved'), join(home, 'repositories'), { recursive: true, preserveTimestamps: true })
  // Values that this process remembers from rows are forgotten with its pool.
  await closeDatabase()
}

cpSync(join(home, 'repositories'), join(home, 'saved'), { recursive: true, preserveTimestamps: true })
const before = await readRows()

/** Values that are new each time they are made, such as times, tokens and their hashes. */
const FRESH = [
  /\$argon2id\$[^"\s]+/g,
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
  /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00| UTC)?/g,
  /[0-9a-f]{40,}/g,
  // The name in mail for the user who made the change.
  /User 1 \(@root-of-all\)|"by":"User 1"|"by":"An administrator"|"author":(?:"User 1"|null)|An administrator/g
]

function comparable(value: unknown): unknown {
  if (value instanceof Date) return 'a moment'
  if (Buffer.isBuffer(value)) return 'bytes'
  if (typeof value !== 'string') return value
  return FRESH.reduce((text, fresh) => text.replace(fresh, 'fresh'), value)
}

/** The rows of every table, without those that differ by design. */
async function resulting(differs: readonly string[]): Promise<Rows> {
  const found = Object.entries(await readRows()).filter(([name]) => !OF_THE_DOOR.has(name) && !differs.includes(name))
  return Object.fromEntries(found.map(([name, all]) => [name, all.map(row => comparableRow(name, row)).sort(byText)]))
}

const comparableRow = (table: string, row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).flatMap(([column, value]) =>
      IGNORED.has(`${table}.${column}`) ? [] : [[column, comparable(value)]]
    )
  )

const byText = (one: Row, other: Row) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)

for (const [name, { command, input, request, by = as(admin), differs = [] }] of Object.entries(CHANGES)) {
  t.test(name, async t => {
    await restore(before)
    const ran = await cli(command, { environment, ...(input !== undefined && { input }) })
    t.equal(ran.code, 0, ran.stderr || 'the command succeeds')
    await runJobs()
    const byCommand = await resulting(differs)
    await restore(before)
    const answer = await request(by)
    t.ok(answer.statusCode < 300, answer.body)
    await runJobs()
    const byRequest = await resulting(differs)
    for (const { name } of tables) t.same(byCommand[name], byRequest[name], name)
  })
}

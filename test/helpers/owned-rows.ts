// Rows of every table that belongs to a project or names a user, for tests of what happens to them. A table that
// src/db/ownership/ownership.ts assigns to a project or a user needs a line in MAKE.

import { beginSession, byPassword } from '../../src/areas/people/credentials/credentials.js'
import { noteUseOf, writeUses } from '../../src/areas/people/credentials/last-use.js'
import { issuePair } from '../../src/areas/people/credentials/oauth/grants.js'
import { createApplication } from '../../src/areas/people/credentials/oauth-applications.js'
import { noteSignIn } from '../../src/areas/people/credentials/sign-in-addresses.js'
import { addEmail } from '../../src/areas/people/users/emails.js'
import { insertIdentities } from '../../src/areas/people/users/identities.js'
import { addKey } from '../../src/areas/people/users/keys.js'
import { createIssue } from '../../src/areas/planning/issues/creation.js'
import { searchWords } from '../../src/areas/planning/participation/search-words.js'
import { setSubscription } from '../../src/areas/planning/participation/subscriptions.js'
import { insertForkLink } from '../../src/areas/projects/projects/fork-links.js'
import { saveService } from '../../src/areas/projects/services/services.js'
import { addDeployKey } from '../../src/areas/projects/ssh/deploy-keys.js'
import { queueMail } from '../../src/areas/reach/mail/outbox.js'
import { saveSetting } from '../../src/areas/reach/notifications/settings.js'
import { execute, rows } from '../../src/db/connect/sql.js'
import { Hook } from '../../src/db/models/index.js'
import { goesWith, type OwnedTable, ownersOf, tablesOf } from '../../src/db/ownership/owned-tables.js'
import { type Link, type Owner, TABLES, type TableName } from '../../src/db/ownership/ownership.js'
import { endBuild, makePipeline } from '../areas/ci/builds/make-builds.js'
import { makeEnvironment } from '../areas/ci/environments/make-environments.js'
import { makeRunner } from '../areas/ci/runners/make-runners.js'
import { makeVariable } from '../areas/ci/variables/make-variables.js'
import { actorOf, factory, projectRow, someOrigin, type TestProject, type TestUser } from './factory.js'
import { giveApp } from './second-factors.js'
import { newKey } from './ssh-keys.js'

/** Where rows are made: in a project, and in the name of a user who is not its owner. */
export interface Place {
  readonly project: TestProject
  readonly user: TestUser
}

export type Row = Readonly<Record<string, unknown>>
export type RowsByTable = ReadonlyMap<TableName, readonly Row[]>

const CI = 'one:\n  script: [make]\n  artifacts: {paths: [a]}\n'

/** For a row that is made together with that of another table. */
const along = async () => undefined

/** Makes a row that belongs to the project and names the user, if its table refers to projects and users. */
const MAKE: { readonly [Table in TableName]?: (place: Place) => Promise<unknown> } = {
  users: along,
  user_trigrams: along,
  ssh_keys: ({ user }) => addKey(user, { title: 'k', key: newKey() }, someOrigin),
  emails: ({ user }) => addEmail(user, { email: `other-${user.email}` }, someOrigin),
  access_tokens: ({ user }) => factory.token(user),
  sessions: ({ user }) => beginSession(byPassword({ ...user }), { address: '127.0.0.1', userAgent: 'test' }),
  user_uses: async ({ user }) => {
    noteUseOf(user.id)
    await writeUses()
  },
  sign_in_addresses: ({ user }) => noteSignIn(user.id, '192.0.2.1'),
  oauth_applications: ({ user }) =>
    createApplication({ name: 'own', redirect_uri: 'https://example.org/' }, someOrigin, user.id),
  oauth_grants: async ({ user }) => {
    const { row: client } = await createApplication({ name: 'a', redirect_uri: 'https://example.org/' }, someOrigin)
    await issuePair({ client, userId: user.id, kind: 'password', scopes: ['api'] }, someOrigin)
  },
  authenticator_apps: ({ user }) => giveApp(user),
  recovery_codes: along,
  passkeys: ({ user }) =>
    execute(
      `insert into passkeys (user_id, name, credential, public_key, counter, transports, created_at)
       values (?, 'Phone', ?, 'key', 0, '', now())`,
      [user.id, `credential of ${user.id}`]
    ),
  migrated_people: ({ user }) =>
    execute(
      "insert into migrated_people (source, username, user_id, created_at) values ('git.example.org', ?, ?, now())",
      [user.username, user.id]
    ),
  migrated_projects: ({ project }) =>
    execute(
      "insert into migrated_projects (project_id, source, source_project, there, here, created_at) values (?, 'git.example.org', ?, '', '', now())",
      [project.id, String(project.id)]
    ),
  identities: ({ user }) => insertIdentities([{ userId: user.id, provider: 'ldap', externUid: user.username }]),
  scim_users: ({ user }) =>
    execute('insert into scim_users (user_id, user_name, created_at, updated_at) values (?, ?, now(), now())', [
      user.id,
      user.username
    ]),
  scim_group_members: async ({ user }) => {
    const sql = 'insert into scim_groups (display_name, created_at, updated_at) values (?, now(), now())'
    const { insertId } = await execute(sql, [`all with ${user.username}`])
    await execute('insert into scim_group_members (group_id, user_id) values (?, ?)', [insertId, user.id])
  },
  namespaces: along,
  members: ({ project, user }) => factory.member(project, 40, user),
  invitations: ({ project, user }) =>
    execute(
      `insert into invitations (source_type, source_id, address, address_key, user_id, access_level, created_at)
       values ('project', ?, 'i@example.org', 'i@example.org', ?, 30, now())`,
      [project.id, user.id]
    ),
  access_requests: ({ project, user }) => factory.accessRequest('project', project, user),
  project_group_links: async ({ project }) => factory.share(project, await factory.group(), 20),
  projects: ({ project, user }) => execute('update projects set creator_id = ? where id = ?', [user.id, project.id]),
  namespace_redirects: along,
  project_redirects: ({ project }) =>
    execute(
      `insert into project_redirects (namespace_id, path, project_id, created_at)
       select namespace_id, concat('old-', id), id, now() from projects where id = ?`,
      [project.id]
    ),
  deploy_keys: ({ project, user }) =>
    addDeployKey(project, { title: 'd', key: newKey() }, { ...someOrigin, asker: { ...user } }),
  deploy_key_projects: along,
  project_stars: ({ project, user }) =>
    execute('insert into project_stars (project_id, user_id, created_at) values (?, ?, now())', [project.id, user.id]),
  project_trigrams: along,
  project_statistics: ({ project }) =>
    execute('insert ignore into project_statistics (project_id, commit_count, updated_at) values (?, 1, now())', [
      project.id
    ]),
  lfs_links: ({ project }) =>
    execute('insert into lfs_links (project_id, oid, size, touched_at) values (?, sha2(?, 256), 1, now(3))', [
      project.id,
      `of ${project.id}`
    ]),
  lfs_scans: ({ project }) =>
    execute('insert into lfs_scans (project_id, scanned_at) values (?, now(3))', [project.id]),
  lfs_sizes: ({ project }) => execute('insert into lfs_sizes (project_id, size) values (?, 1)', [project.id]),
  lfs_locks: ({ project, user }) =>
    execute(
      "insert into lfs_locks (project_id, path, path_hash, user_id, created_at) values (?, 'a', repeat('a', 64), ?, now(3))",
      [project.id, user.id]
    ),
  forked_project_links: async ({ project }) => insertForkLink(project.id, (await factory.project()).id),
  project_imports: ({ project }) =>
    execute('insert into project_imports (project_id, created_at) values (?, now())', [project.id]),
  protected_branches: ({ project }) =>
    execute(
      "insert into protected_branches (project_id, name, created_at, updated_at) values (?, 'owned/*', now(), now())",
      [project.id]
    ),
  releases: ({ project }) =>
    execute(
      "insert into releases (project_id, tag, description, created_at, updated_at) values (?, 'v1', '', now(), now())",
      [project.id]
    ),
  notes: ({ project, user }) =>
    execute(
      `insert into notes (project_id, noteable_type, commit_id, author_id, updated_by_id, note, created_at, updated_at)
       values (?, 'Commit', repeat('a', 40), ?, null, '', now(), now()), (?, 'Commit', repeat('a', 40), ?, ?, '', now(), now())`,
      [project.id, user.id, project.id, project.owner.id, user.id]
    ),
  award_emoji: ({ project, user }) =>
    execute(
      `insert into award_emoji (awardable_type, awardable_id, name, user_id, created_at, updated_at)
       select 'Note', id, 'tada', ?, now(), now() from notes where project_id = ? limit 1`,
      [user.id, project.id]
    ),
  participants: ({ user }) =>
    execute("insert ignore into participants (target_type, target_id, user_id) values ('Issue', 1, ?)", [user.id]),
  todos: ({ project, user }) =>
    execute(
      `insert into todos (user_id, author_id, project_id, target_type, commit_id, action, created_at, updated_at)
       values (?, ?, ?, 'Commit', repeat('a', 40), 'mentioned', now(), now()),
         (?, ?, ?, 'Commit', repeat('a', 40), 'mentioned', now(), now())`,
      [user.id, project.owner.id, project.id, project.owner.id, user.id, project.id]
    ),
  merge_requests: async ({ project, user }) => {
    // The links form a chain: the row is seen through all of them.
    const make = (iid: number, author: number, assignee: number | null, by: number | null, merger: number | null) =>
      execute(
        `insert into merge_requests (iid, target_project_id, source_project_id, target_branch, source_branch, title,
           author_id, assignee_id, updated_by_id, merge_user_id, created_at, updated_at)
         values (?, ?, ?, 'master', concat('owned-', ?), 'owned', ?, ?, ?, ?, now(), now())`,
        [iid, project.id, project.id, iid, author, assignee, by, merger]
      )
    await make(1, user.id, null, null, null)
    await make(2, project.owner.id, user.id, null, null)
    await make(3, project.owner.id, null, user.id, null)
    const { insertId } = await make(4, project.owner.id, null, null, user.id)
    await execute(
      `insert into merge_request_versions (merge_request_id, head_sha, state, real_size, created_at)
       values (?, repeat('a', 40), 'empty', '0', now())`,
      [insertId]
    )
    await execute(
      `insert into merge_intents (merge_request_id, commit_sha, target_project_id, user_id, remove_source_branch, created_at)
       values (?, repeat('a', 40), ?, ?, false, now())`,
      [insertId, project.id, user.id]
    )
  },
  merge_request_versions: along,
  merge_intents: along,
  snippets: ({ project, user }) =>
    execute(
      `insert into snippets (project_id, author_id, title, file_name, content, visibility_level, created_at, updated_at)
       values (?, ?, 's', 's.txt', 'x', 0, now(), now())`,
      [project.id, user.id]
    ),
  repository_upkeeps: ({ project }) =>
    execute('insert into repository_upkeeps (project_id, looked_at) values (?, now())', [project.id]),
  repository_checks: ({ project }) =>
    execute(
      "insert into repository_checks (project_id, looked_at, fingerprint) values (?, now(), unhex(sha2('', 256)))",
      [project.id]
    ),
  archived_files: ({ project, user }) =>
    execute(
      `insert into archived_files (kind, month, project_id, author_id, name, records, bytes, sha256, created_at)
       values ('events', '2020-03', ?, ?, uuid(), 1, 1, '', now(3))`,
      [project.id, user.id]
    ),
  archived_pipelines: ({ project }) =>
    execute('insert into archived_pipelines (id, project_id) values (?, ?)', [1_000_000 + project.id, project.id]),
  pipelines: along,
  builds: async ({ project, user }) => {
    const builds = await makePipeline({ ...project, owner: user }, CI)
    for (const build of builds) await endBuild(build, { trace: 'done', artifacts: Buffer.from('archive') })
  },
  pipeline_stages: along,
  environments: ({ project }) => makeEnvironment(project, 'staging'),
  deployments: ({ project, user }) =>
    execute(
      `insert into deployments (project_id, iid, environment_id, build_id, ref, tag, sha, user_id, created_at)
       values (?, 1, 1, ?, 'master', 0, '', ?, now())`,
      [project.id, project.id, user.id]
    ),
  commit_statuses: ({ project, user }) =>
    execute(
      `insert into commit_statuses (project_id, pipeline_id, user_id, sha, ref, name, status, created_at, updated_at)
       select project_id, id, ?, sha, ref, 'lint', 'success', now(3), now(3) from pipelines where project_id = ? limit 1`,
      [user.id, project.id]
    ),
  triggers: ({ project }) =>
    execute(
      `insert into triggers (project_id, token_hash, token_encrypted, created_at, updated_at)
       values (?, unhex(sha2(uuid(), 256)), '', now(), now())`,
      [project.id]
    ),
  reported_variables: ({ project }) =>
    execute(
      `insert into reported_variables (build_id, pipeline_id, attempt, amount, variables_encrypted, created_at)
       select id, pipeline_id, 1, 1, 'x', now() from builds where project_id = ? order by id desc limit 1`,
      [project.id]
    ),
  downstream_pipelines: ({ project }) =>
    execute(
      `insert into downstream_pipelines (build_id, upstream_pipeline_id, pipeline_id, root_pipeline_id, depth, is_child,
         awaited, created_at)
       select id, pipeline_id, pipeline_id, pipeline_id, 1, 1, 1, now() from builds where project_id = ?
       order by id desc limit 1`,
      [project.id]
    ),
  followed_pipelines: ({ project }) =>
    execute(
      `insert into followed_pipelines (build_id, pipeline_id, followed_pipeline_id, created_at)
       select id, pipeline_id, pipeline_id, now() from builds where project_id = ? order by id desc limit 1`,
      [project.id]
    ),
  trigger_requests: ({ project }) =>
    execute(
      `insert into trigger_requests (trigger_id, pipeline_id, created_at)
       select 1, id, created_at from pipelines where project_id = ? order by id desc limit 1`,
      [project.id]
    ),
  mirrors: ({ project, user }) =>
    execute(
      `insert into mirrors (project_id, user_id, direction, url, created_at, updated_at)
       values (?, ?, 'push', 'https://example.org/a.git', now(), now())`,
      [project.id, user.id]
    ),
  pipeline_schedules: ({ project, user }) =>
    execute(
      `insert into pipeline_schedules (project_id, user_id, description, ref, cron, created_at, updated_at)
       values (?, ?, '', 'master', '0 4 * * *', now(), now())`,
      [project.id, user.id]
    ),
  pipeline_requests: ({ project }) =>
    execute(
      `insert into pipeline_requests (pipeline_id, created_at)
       select id, created_at from pipelines where project_id = ? order by id desc limit 1`,
      [project.id]
    ),
  variables: ({ project }) => makeVariable(project, 'KEY'),
  services: async ({ project }) =>
    saveService(await projectRow(project), 'emails-on-push', { recipients: 'a@example.org' }, someOrigin),
  runner_projects: ({ project }) => makeRunner({ projects: [project.id] }),
  ref_changes: along,
  mails: ({ project, user }) =>
    queueMail({
      once: `owned ${project.id}`,
      kind: 'test',
      facts: { sent_at: '' },
      list: { projectId: project.id },
      authorId: user.id,
      recipients: [{ userId: user.id, address: user.email, reason: 'test' }]
    }),
  mail_deliveries: along,
  activity_events: ({ project, user }) =>
    execute(
      `insert into activity_events (happening_id, project_id, author_id, action, created_at)
       values (uuid(), ?, ?, 'created', now())`,
      [project.id, user.id]
    ),
  counters: along,
  labels: ({ project }) =>
    execute(
      "insert ignore into labels (project_id, title, color, created_at, updated_at) values (?, 'owned', '#fff', now(), now())",
      [project.id]
    ),
  label_priorities: ({ project }) =>
    execute('insert into label_priorities select project_id, id, 1 from labels where project_id = ?', [project.id]),
  milestones: ({ project }) =>
    execute(
      "insert into milestones (project_id, iid, title, created_at, updated_at) values (?, 1, 'owned', now(), now())",
      [project.id]
    ),
  issues: async ({ project, user }) => {
    const row = await projectRow(project)
    const make = (values: object, by: TestUser) => createIssue(row, { title: 'owned', ...values }, actorOf(by))
    await make({ assignee_id: user.id }, project.owner)
    const { id } = await make({ labels: 'owned' }, project.owner)
    await execute('update issues set updated_by_id = ? where id = ?', [user.id, id])
    await execute("insert into timelogs values (null, 'Issue', ?, ?, 60, now())", [id, user.id])
    await setSubscription({ type: 'Issue', id, projectId: project.id }, user.id, true)
    await make({}, user)
  },
  label_links: along,
  issue_counts: along,
  issue_words: () =>
    searchWords.run({ dryRun: false, signal: new AbortController().signal, count: () => {}, note: () => {} }),
  merge_request_words: along,
  subscriptions: along,
  notification_settings: ({ project, user }) =>
    saveSetting({ type: 'Project', id: project.id }, user.id, { level: 'watch' }),
  timelogs: along,
  boards: ({ project }) => execute('insert into boards (project_id, created_at) values (?, now())', [project.id]),
  board_lists: ({ project }) =>
    execute(
      `insert into board_lists (board_id, label_id, position, created_at)
       select b.id, l.id, 0, now() from boards b join labels l on l.project_id = b.project_id where b.project_id = ?`,
      [project.id]
    ),
  hooks: ({ project }) => Hook.create({ projectId: project.id, url: 'http://127.0.0.1:9/' }),
  audit_events: ({ user }) =>
    execute(
      `insert into audit_events (created_at, actor_id, actor_name, via, action, target_type, target_id, target_name, changes)
       values (now(), ?, ?, 'api', 'test', 'test', '1', '', '{}')`,
      [user.id, user.username]
    )
}

/** Links of all tables to users. */
export const linksToUsers: readonly OwnedTable[] = TABLES.flatMap(table =>
  ownersOf(table)
    .filter(({ to }) => to === 'users')
    .map(link => ({ table, link }))
)

/** Tables that belong to a project or name a user. */
const wantedTables = () => new Set([...tablesOf('projects'), ...linksToUsers.map(({ table }) => table)])

/** The wanted tables that MAKE does not have yet. */
export const unknownToMake = (): TableName[] => [...wantedTables()].filter(table => !MAKE[table])

/** Makes rows in every table that belongs to a project or names a user. Throws for a table that MAKE does not have. */
export async function fill(place: Place): Promise<void> {
  for (const table of wantedTables()) {
    const make = MAKE[table]
    if (!make) throw new Error(`test/helpers/owned-rows.ts makes no row of ${table}: add a line to MAKE`)
    await make(place)
  }
}

/** An owner's row and all rows that are deleted with it, directly or through others; a table without such rows has an empty list. */
export async function rowsGoingWith(owner: Owner, id: number): Promise<RowsByTable> {
  const found = new Map<TableName, readonly Row[]>()
  for (const table of tablesOf(owner)) {
    const all = await rows<Row>(`select * from ${table}`)
    const links = ownersOf(table).filter(goesWith)
    const isOwned = (row: Row) =>
      links.some(link => found.get(link.to)?.some(({ id: number }) => isLinked(row, link, number)))
    found.set(table, table === owner ? all.filter(row => row.id === id) : all.filter(isOwned))
  }
  return found
}

/** The rows that link to an owner. */
export async function rowsLinkedTo({ table, link }: OwnedTable, id: number): Promise<readonly Row[]> {
  return (await rows<Row>(`select * from ${table}`)).filter(row => isLinked(row, link, id))
}

const isLinked = (row: Row, { column, when }: Link, id: unknown): boolean =>
  row[column] === id && (!when || row[when[0]] === when[1])

/** The rows of `earlier` that still exist, with their current values: found again by their primary keys. */
export async function stillThere(table: TableName, earlier: readonly Row[]): Promise<readonly Row[]> {
  const key = await rows<{ name: string }>(
    `select column_name as name from information_schema.statistics
     where table_schema = database() and table_name = ? and index_name = 'PRIMARY'`,
    [table]
  )
  const keyOf = (row: Row) => JSON.stringify(key.map(({ name }) => row[name]))
  const keys = new Set(earlier.map(keyOf))
  return (await rows<Row>(`select * from ${table}`)).filter(row => keys.has(keyOf(row)))
}

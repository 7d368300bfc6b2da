// Makes many rows with the sequence engine of the database: 100k projects in some seconds.
import { execute, row } from '../../src/db/connect/sql.js'
import { encrypt, newToken } from '../../src/secrets.js'

export const USERS = 1000
export const PROJECTS = 100_000

/** Makes users, each with a namespace, and projects in these. Returns the first id of each kind. */
export async function seedProjects(
  count = PROJECTS,
  users = USERS
): Promise<{ firstUser: number; firstProject: number }> {
  const now = new Date()
  const firstUser = (await highest('users')) + 1
  const firstNamespace = (await highest('namespaces')) + 1
  const firstProject = (await highest('projects')) + 1
  await execute(
    `insert into users (id, username, name, email, password_hash, created_at, updated_at)
     select ? + seq, concat('seeded-', seq), concat('Seeded User ', seq), concat('seeded-', seq, '@example.org'), '-', ?, ?
     from seq_0_to_${users - 1}`,
    [firstUser, now, now]
  )
  await execute(
    `insert into namespaces (id, kind, owner_id, name, path, created_at, updated_at)
     select ? + seq, 'user', ? + seq, concat('seeded-', seq), concat('seeded-', seq), ?, ? from seq_0_to_${users - 1}`,
    [firstNamespace, firstUser, now, now]
  )
  // All projects have the same encrypted token. A list decrypts the token of every project that it may show, so the value does
  // not matter.
  const token = encrypt(newToken())
  for (let at = 0; at < count; at += 10_000) {
    await execute(
      `insert into projects (id, namespace_id, creator_id, name, path, description, default_branch, storage,
         visibility_level, tag_list, runners_token_hash, runners_token_encrypted, last_activity_at, created_at, updated_at)
       select ? + seq, ? + seq mod ${users}, ? + seq mod ${users}, concat('Project ', seq), concat('project-', seq),
         concat('What project ', seq, ' is for'), 'master', 'default', elt(1 + seq mod 3, 0, 10, 20), '["one","two"]',
         unhex(sha2(seq, 256)), ?, ? - interval (${count} - seq) minute, ? - interval (${count} - seq) minute, ?
       from seq_${at}_to_${Math.min(at + 10_000, count) - 1}`,
      [firstProject, firstNamespace, firstUser, token, now, now, now]
    )
  }
  await execute('analyze table projects, namespaces, users')
  return { firstUser, firstProject }
}

/** The private token of the seeded user with this number, from 0. */
export const tokenOfUser = (number: number) => `bench-token-of-user-${number}`

/** Gives the seeded users their private tokens. */
export async function seedTokens(firstUser: number, users = USERS): Promise<void> {
  const prefix = tokenOfUser(0).slice(0, -1)
  await execute(
    `insert into access_tokens (token_hash, user_id, kind, name, created_at)
     select unhex(sha2(concat('${prefix}', seq), 256)), ? + seq, 'private', '', ? from seq_0_to_${users - 1}`,
    [firstUser, new Date()]
  )
}

/** Makes a user a member of `count` of the seeded projects, spread over all. */
export async function seedMemberships(userId: number, firstProject: number, count: number, projects = PROJECTS) {
  const now = new Date()
  await execute(
    `insert into members (source_type, source_id, user_id, access_level, created_at, updated_at)
     select 'project', ? + seq * ${Math.floor(projects / count)}, ?, 30, ?, ? from seq_0_to_${count - 1}`,
    [firstProject, userId, now, now]
  )
}

/** Makes users and adds all of them to a group. */
export async function seedGroupMembers(groupId: number, count: number): Promise<void> {
  const now = new Date()
  const first = (await highest('users')) + 1
  await execute(
    `insert into users (id, username, name, email, password_hash, created_at, updated_at)
     select ? + seq, concat('member-', seq), concat('Member ', seq), concat('member-', seq, '@example.org'), '-', ?, ?
     from seq_0_to_${count - 1}`,
    [first, now, now]
  )
  await execute(
    `insert into members (source_type, source_id, user_id, access_level, created_at, updated_at)
     select 'namespace', ?, ? + seq, 30, ?, ? from seq_0_to_${count - 1}`,
    [groupId, first, now, now]
  )
  await execute('analyze table users, members')
}

/** Makes pipelines with four builds each in one project, for the given commits in turn. */
export async function seedBuilds(project: number, user: number, pipelines: number, shas: readonly string[]) {
  const now = new Date()
  // The worker may be making the pipeline of a push at the same time.
  const first = (await highest('pipelines')) + 100
  const sha = `elt(1 + seq mod ${shas.length}, ${shas.map(() => '?').join(', ')})`
  await execute(
    `insert into pipelines (id, project_id, ref, tag, sha, before_sha, status, source, user_id, created_at, updated_at)
     select ? + seq, ?, 'master', false, ${sha}, repeat('0', 40), 'success', 'push', ?, ?, ?
     from seq_0_to_${pipelines - 1}`,
    [first, project, ...shas, user, now, now]
  )
  await execute(
    `insert into builds (pipeline_id, project_id, user_id, name, stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, tag_list, plan, started_at, finished_at, created_at, updated_at)
     select ? + seq div 4, ?, ?, concat('job-', seq mod 4), 'test', 0, 'master', false,
       elt(1 + (seq div 4) mod ${shas.length}, ${shas.map(() => '?').join(', ')}),
       if(seq mod 7 = 0, 'failed', 'success'), 'on_success', false, '[]', '{}', ?, ?, ?, ?
     from seq_0_to_${pipelines * 4 - 1}`,
    [first, project, user, ...shas, now, now, now, now]
  )
  await execute('analyze table builds, pipelines')
}

async function highest(
  table: 'users' | 'namespaces' | 'projects' | 'pipelines' | 'issues' | 'labels' | 'milestones'
): Promise<number> {
  // The driver returns the result of coalesce as a text.
  return Number((await row<{ id: string }>(`select coalesce(max(id), 0) as id from ${table}`))?.id ?? 0)
}

/** How many prepared statements the database has executed. This includes background work of the appliance. */
export async function statementCount(): Promise<number> {
  const found = await row<{ value: string }>(
    "select variable_value as value from information_schema.global_status where variable_name = 'COM_STMT_EXECUTE'"
  )
  return Number(found?.value ?? 0)
}

/** Makes issues of one project: a third is closed, a tenth has the label `frequent`, a thousandth the label `rare`. */
export async function seedIssues(project: number, author: number, count: number): Promise<void> {
  const now = new Date()
  const first = (await highest('issues')) + 1
  const label = (await highest('labels')) + 1
  const milestone = (await highest('milestones')) + 1
  await execute(
    `insert into labels (id, project_id, title, color, created_at, updated_at)
     values (?, ?, 'frequent', '#fff', ?, ?), (?, ?, 'rare', '#000', ?, ?)`,
    [label, project, now, now, label + 1, project, now, now]
  )
  await execute(
    "insert into milestones (id, project_id, iid, title, created_at, updated_at) values (?, ?, 1, 'v1', ?, ?)",
    [milestone, project, now, now]
  )
  for (let at = 0; at < count; at += 10_000) {
    await execute(
      `insert into issues (id, project_id, iid, title, description, state, author_id, milestone_id, created_at, updated_at)
       select ? + seq, ?, 1 + seq, concat('Issue ', seq), concat('What issue ', seq, ' is about'),
         if(seq mod 3 = 0, 'closed', 'opened'), ?, if(seq mod 50 = 0, ?, null), ? - interval (${count} - seq) second,
         ? - interval (seq * 7919 mod ${count}) second
       from seq_${at}_to_${Math.min(at + 10_000, count) - 1}`,
      [first, project, author, milestone, now, now]
    )
  }
  for (const [id, every] of [
    [label, 10],
    [label + 1, 1000]
  ] as const) {
    await execute(
      `insert into label_links (target_type, target_id, label_id, of_project, of_author, of_created_at)
       select 'Issue', i.id, ?, i.project_id, i.author_id, i.created_at from seq_0_to_${count / every - 1} join issues i on i.id = ? + seq * ${every}`,
      [id, first]
    )
  }
  await execute(
    'insert into issue_counts (project_id, slot, opened, closed) select project_id, 0, sum(is_open), sum(not is_open) from issues where project_id = ? group by project_id',
    [project]
  )
  await execute("insert into counters (project_id, kind, last) values (?, 'issue', ?)", [project, count])
}

/** Makes merge requests of one project. Most of them are merged, a tenth is open. */
export async function seedMergeRequests(project: number, author: number, count: number): Promise<void> {
  for (let at = 0; at < count; at += 20_000) {
    await execute(
      `insert into merge_requests (iid, target_project_id, source_project_id, target_branch, source_branch, title, description,
         state, author_id, created_at, updated_at)
       select 1000000 + seq, ?, ?, 'master', concat('seeded-', seq), concat('Merge request ', seq), 'What it is about',
         elt(1 + seq mod 10, 'opened', 'closed', 'merged', 'merged', 'merged', 'merged', 'merged', 'closed', 'merged', 'merged'),
         ?, now(3) - interval (${count} - seq) minute, now(3) - interval (seq * 7919 mod ${count}) minute
       from seq_${at}_to_${Math.min(at + 20_000, count) - 1}`,
      [project, project, author]
    )
  }
  await execute('analyze table merge_requests')
}

interface TodoSeed {
  readonly firstUser: number
  readonly firstProject: number
  readonly member: number
  readonly administrator: number
  readonly projects?: number
  /** To-dos of each seeded user. */
  readonly each?: number
}

const TODOS_EACH = 1000

/** Makes an issue in each project, and to-dos about them: for the seeded users, and a thousand for each of two others. */
export async function seedTodos(what: TodoSeed): Promise<void> {
  const { firstUser, firstProject, member, administrator, projects = PROJECTS, each = TODOS_EACH } = what
  const now = new Date()
  const first = (await highest('issues')) + 1
  for (let at = 0; at < projects; at += 10_000) {
    await execute(
      `insert into issues (id, project_id, iid, title, description, state, author_id, created_at, updated_at)
       select ? + seq, ? + seq, 1, concat('Issue ', seq), 'What it is about', 'opened', ?, ?, ?
       from seq_${at}_to_${Math.min(at + 10_000, projects) - 1}`,
      [first, firstProject, firstUser, now, now]
    )
  }
  const insert = `insert into todos (user_id, author_id, project_id, target_type, target_id, action, state, created_at, updated_at)
    select`
  const columns =
    "'Issue', ? + place, if(seq div 10 mod 2, 'mentioned', 'assigned'), if(part mod 10, 'done', 'pending'), ?, ?"
  for (let at = 0; at < USERS * each; at += 10_000) {
    await execute(
      `${insert} user_id, ?, ? + place, ${columns} from (select seq, seq div ${USERS} as part, ? + seq mod ${USERS} as user_id,
         (seq mod ${USERS} + 97 * (seq div ${USERS})) mod ${projects} as place from seq_${at}_to_${at + 9999}) s`,
      [firstUser, firstProject, first, now, now, firstUser]
    )
  }
  for (const user of [member, administrator]) {
    await execute(
      `${insert} ?, ?, ? + place, ${columns} from (select seq, seq as part, seq * ${projects / TODOS_EACH} as place
         from seq_0_to_${TODOS_EACH - 1}) s`,
      [user, firstUser, firstProject, first, now, now]
    )
  }
  await execute('analyze table todos, issues, members')
}

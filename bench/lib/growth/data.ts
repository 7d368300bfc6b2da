// The data of `growth`: tables of any size, and next to them subjects that are the same at each size. So the result of an operation
// on a subject never grows, and a cost that grows is a fault.
import { mkdirSync, writeFileSync } from 'node:fs'
import { repositoryPath } from '../../../src/areas/projects/projects/repositories.js'
import { execute, rows } from '../../../src/db/connect/sql.js'
import { trigrams } from '../../../src/db/migrations/0110-trigrams.js'
import type { Administrator, Prepared } from '../appliance.js'
import { homeWith, newHomeWith } from '../kept-home.js'
import { ask } from '../rest.js'
import { seedProjects, seedTokens } from '../seed.js'

/** Change it when the data change. */
const VERSION = 3
/** The sizes at 1x. */
const PROJECTS = 100_000
const USERS = 1000
const BUILDS = 1_000_000
const ISSUES = 1_000_000
const EVENTS = 1_000_000
const REPOSITORIES = 10_000
const BUILDS_PER_PIPELINE = 4
const CHUNK = 50_000

/** Records with the same content at each size. */
export interface Subjects {
  readonly admin: Administrator
  readonly firstUser: number
  readonly firstProject: number
  /** A project with 200 builds, 500 issues and 500 events. */
  readonly project: number
  /** A group of 20 projects. */
  readonly group: number
  /** A user with 20 projects, who wrote 100 issues and started 100 builds of others. */
  readonly user: number
}

/** Copies a home with the data into a new one, and makes them first if they are not in the cache. Large ones are not kept. */
export const homeOfSize = (scale: number) => {
  const make = (appliance: Prepared) => fill(appliance, scale)
  return scale > 1 ? newHomeWith(make) : homeWith(`growth-${scale}`, VERSION, make)
}

type Making = readonly [what: string, make: () => Promise<unknown>]

async function fill(appliance: Prepared, scale: number): Promise<Subjects> {
  const { admin } = appliance
  const sizes = {
    projects: PROJECTS * scale,
    users: Math.max(50, USERS * scale),
    builds: BUILDS * scale,
    issues: ISSUES * scale,
    events: EVENTS * scale
  }
  const { firstUser, firstProject } = await seedProjects(sizes.projects, sizes.users)
  const world = { ...sizes, firstUser, firstProject }
  const makings: readonly Making[] = [
    ['tokens and memberships', () => makePeople(world)],
    ['what belongs to projects', () => makeProjectRows(world, REPOSITORIES * scale)],
    ['builds', () => makeBuilds(world)],
    ['issues', () => makeIssues(world)],
    ['events, deliveries and changes of refs', () => makeEvents(world)]
  ]
  for (const [what, make] of makings) {
    const begun = performance.now()
    await make()
    process.stderr.write(`bench: ${scale}x: ${what} after ${Math.round((performance.now() - begun) / 1000)} s\n`)
  }
  const subjects = await makeSubjects(appliance, world)
  await execute(
    `analyze table users, projects, members, pipelines, builds, issues, activity_events, hook_deliveries, hook_attempts,
       ref_changes, project_statistics, project_trigrams, todos, notes, audit_events`
  )
  return { admin, firstUser, firstProject, ...subjects }
}

interface World {
  readonly projects: number
  readonly users: number
  readonly builds: number
  readonly issues: number
  readonly events: number
  readonly firstUser: number
  readonly firstProject: number
}

/** Runs a statement for each part of `count` numbers: a statement of millions of rows would hold as many locks. */
async function inParts(count: number, run: (sequence: string, first: number, last: number) => Promise<unknown>) {
  for (let at = 0; at < count; at += CHUNK) {
    const last = Math.min(at + CHUNK, count) - 1
    await run(`seq_${at}_to_${last}`, at, last)
  }
}

/** Every user is a member of 50 projects. */
async function makePeople({ users, projects, firstUser, firstProject }: World): Promise<void> {
  await seedTokens(firstUser, Math.min(users, USERS))
  await inParts(users * 50, sequence =>
    execute(
      `insert ignore into members (source_type, source_id, user_id, access_level, created_at, updated_at)
       select 'project', ? + (seq * 48271) mod ${projects}, ? + seq div 50, 30, now(3), now(3) from ${sequence}`,
      [firstProject, firstUser]
    )
  )
}

async function makeProjectRows({ projects, firstProject }: World, repositories: number): Promise<void> {
  await inParts(projects, async (sequence, first, last) => {
    await execute(
      `insert into project_statistics (project_id, commit_count, repository_size, updated_at)
       select ? + seq, 300, 100000, now(3) from ${sequence}`,
      [firstProject]
    )
    await execute(
      `insert into repository_upkeeps (project_id, looked_at, repacked_at)
       select ? + seq, now(3) + interval seq mod 600 second, now(3) from ${sequence}`,
      [firstProject]
    )
    await execute(
      `insert into repository_checks (project_id, looked_at, fingerprint, contents_at)
       select ? + seq, now(3), unhex(sha2(seq, 256)), now(3) from ${sequence}`,
      [firstProject]
    )
    const [each = ''] = trigrams.fill?.map(({ each }) => each) ?? []
    for (let at = first; at <= last; at += 1000) {
      await execute(each, [firstProject + at, firstProject + Math.min(at + 999, last)])
    }
  })
  // Some files are enough to show what a walk through all repositories costs.
  for (let at = 0; at < repositories; at++) {
    const path = repositoryPath({ id: firstProject + at, storage: 'default' })
    mkdirSync(path, { recursive: true })
    writeFileSync(`${path}/HEAD`, 'ref: refs/heads/master\n')
  }
}

/** The projects take turns as they would over time. A tenth of the builds has artifacts that expire later. */
async function makeBuilds({ projects, builds, users, firstProject, firstUser }: World): Promise<void> {
  const days = 'interval (700 - 700 * seq / ?) day'
  const pipelines = Math.ceil(builds / BUILDS_PER_PIPELINE)
  await inParts(pipelines, async (sequence, first, last) => {
    await execute(
      `insert into pipelines (id, project_id, ref, tag, sha, before_sha, status, source, user_id, started_at, finished_at,
         duration, created_at, updated_at)
       select 1 + seq, ? + (seq * 48271) mod ${projects}, if(seq mod 4, 'master', concat('topic-', seq mod 97)), false,
         sha1(seq), repeat('0', 40), 'success', 'push', ? + seq mod ${users}, now(3) - ${days}, now(3) - ${days}, 60,
         now(3) - ${days}, now(3) - ${days}
       from ${sequence}`,
      [firstProject, firstUser, pipelines, pipelines, pipelines, pipelines]
    )
    await execute(
      `insert into builds (pipeline_id, project_id, user_id, name, stage, stage_index, ref, tag, sha, status, start_when,
         allow_failure, tag_list, plan, trace_size, artifacts_filename, artifacts_size, artifacts_attempt, artifacts_expire_at,
         attempt, started_at, finished_at, created_at, updated_at)
       select l.id, l.project_id, l.user_id, concat('job-', b.seq), 'test', 0, l.ref, false, l.sha,
         if((l.id + b.seq) mod 7 = 0, 'failed', 'success'), 'on_success', false, '[]',
         concat('{"script":["', repeat('make test; ', 20), '"]}'), 1000,
         if((l.id * 4 + b.seq) mod 10 = 0, 'artifacts.zip', null), if((l.id * 4 + b.seq) mod 10 = 0, 1000, null),
         if((l.id * 4 + b.seq) mod 10 = 0, 1, null),
         if((l.id * 4 + b.seq) mod 10 = 0, now(3) + interval 30 + l.id mod 300 day, null),
         1, l.started_at, l.finished_at, l.created_at, l.updated_at
       from pipelines l join seq_0_to_${BUILDS_PER_PIPELINE - 1} b where l.id between ? and ? order by l.id, b.seq`,
      [first + 1, last + 1]
    )
    await execute(
      `insert into pipeline_stages (pipeline_id, position, name, success) select 1 + seq, 0, 'test', 4 from ${sequence}`
    )
  })
}

/** A fifth of the issues belongs to one project; the others belong to all projects. */
async function makeIssues({ projects, issues, users, firstProject, firstUser }: World): Promise<void> {
  const ofOne = Math.floor(issues / 5)
  const project = `if(seq < ${ofOne}, 0, (seq - ${ofOne}) mod ${projects})`
  const number = `if(seq < ${ofOne}, 1 + seq, 1 + ${ofOne} + (seq - ${ofOne}) div ${projects})`
  await inParts(issues, async sequence => {
    await execute(
      `insert into issues (project_id, iid, title, description, state, author_id, assignee_id, created_at, updated_at)
       select ? + ${project}, ${number}, concat('Issue ', seq), 'What it is about', if(seq mod 3 = 0, 'closed', 'opened'),
         ? + seq mod ${users}, if(seq mod 5 = 0, ? + (seq * 31) mod ${users}, null), now(3) - interval (${issues} - seq) second,
         now(3) - interval (${issues} - seq) second
       from ${sequence}`,
      [firstProject, firstUser, firstUser]
    )
  })
  // As if their words were known: the task that adds them would need hours. The worker may have begun with it.
  await inParts(issues, (_, first, last) =>
    execute("insert ignore into issue_words (word, issue_id) select '', id from issues where id between ? and ?", [
      first + 1,
      last + 1
    ])
  )
  await execute(
    `insert into issue_counts (project_id, slot, opened, closed)
     select project_id, 0, sum(is_open), sum(not is_open) from issues group by project_id`
  )
  await execute(
    "insert into counters (project_id, kind, last) select project_id, 'issue', max(iid) from issues group by project_id"
  )
  await inParts(issues / 5, async sequence => {
    await execute(
      `insert into notes (project_id, noteable_type, noteable_id, author_id, note, created_at, updated_at)
       select i.project_id, 'Issue', i.id, ? + s.seq mod ${users}, 'What I think', now(3), now(3)
       from ${sequence} s join issues i on i.id = 1 + s.seq * 5`,
      [firstUser]
    )
    await execute(
      `insert ignore into todos (user_id, author_id, project_id, target_type, target_id, action, state, created_at, updated_at)
       select ? + s.seq mod ${users}, i.author_id, i.project_id, 'Issue', i.id, 'mentioned', if(s.seq mod 10, 'done', 'pending'),
         now(3), now(3)
       from ${sequence} s join issues i on i.id = 1 + s.seq * 5`,
      [firstUser]
    )
  })
}

async function makeEvents({ projects, users, events, firstProject, firstUser }: World): Promise<void> {
  await inParts(events, async sequence => {
    await execute(
      `insert into activity_events (happening_id, project_id, author_id, action, target_type, target_id, target_title, created_at)
       select concat('seeded:', seq), ? + (seq * 48271) mod ${projects}, ? + seq mod ${users}, 'opened', 'Issue', 1 + seq,
         concat('Issue ', seq), now(3) - interval (700 - 700 * seq / ${events}) day
       from ${sequence}`,
      [firstProject, firstUser]
    )
  })
  await inParts(events / 5, async (sequence, first, last) => {
    await execute(
      `insert into hook_deliveries (id, hook_id, event_key, event, payload, state, attempts, created_at, finished_at)
       select 1 + seq, 1 + seq mod 1000, concat('seeded:', seq), 'push', repeat('x', 500), 'delivered', 1,
         now(3) - interval 20 day + interval seq mod 86400 second, now(3) from ${sequence}`
    )
    await execute(
      `insert into hook_attempts (delivery_id, attempt, started_at, duration_ms, status, request_headers, response_headers,
         response_body)
       select id, 1, created_at, 10, 200, '{}', '{}', 'ok' from hook_deliveries where id between ? and ?`,
      [first + 1, last + 1]
    )
    await execute(
      `insert into ref_changes (project_id, ref, old_id, new_id, user_id, source, state, process, created_at, settled_at)
       select ? + (seq * 48271) mod ${projects}, 'refs/heads/master', sha1(seq), sha1(seq + 1), ? + seq mod ${users}, 'http',
         'done', 'seeded', now(3) - interval 30 day, now(3) - interval 30 day from ${sequence}`,
      [firstProject, firstUser]
    )
    await execute(
      `insert into audit_events (created_at, actor_id, actor_name, via, action, target_type, target_id, target_name, changes)
       select now(3) - interval 100 day, ? + seq mod ${users}, concat('seeded-', seq mod ${users}), 'api', 'project.update',
         'project', ? + seq mod ${projects}, concat('project-', seq), '{}' from ${sequence}`,
      [firstUser, firstProject]
    )
  })
}

/** What the tasks find is the same at each size: 2,000 rows that are old enough. */
async function makeSubjects(appliance: Prepared, world: World) {
  const { firstUser, firstProject } = world
  const group = await ask<{ id: number }>(appliance, 'POST', '/groups', { name: 'Subject', path: 'subject-group' })
  const person = {
    username: 'subject',
    name: 'Subject',
    email: 'subject@example.org',
    password: 'a-long-password',
    projects_limit: 100
  }
  const user = await ask<{ id: number }>(appliance, 'POST', '/users', person)
  for (let number = 0; number < 20; number++) {
    await ask(appliance, 'POST', '/projects', { name: `in group ${number}`, namespace_id: group.id })
    await ask(appliance, 'POST', `/projects/user/${user.id}`, { name: `of user ${number}` })
  }
  const { id: project } = await ask<{ id: number }>(appliance, 'POST', '/projects', { name: 'Zebra quagga' })
  const [last] = await rows<{ id: number }>('select max(id) as id from pipelines')
  const first = (last?.id ?? 0) + 1
  await execute(
    `insert into pipelines (id, project_id, ref, tag, sha, before_sha, status, source, user_id, created_at, updated_at)
     select ? + seq, if(seq < 50, ?, ? + seq), 'master', false, sha1(seq), repeat('0', 40), 'success', 'push',
       if(seq < 50, ?, ?), now(3), now(3) from seq_0_to_74`,
    [first, project, firstProject, firstUser, user.id]
  )
  await execute(
    `insert into builds (pipeline_id, project_id, user_id, name, stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, tag_list, plan, created_at, updated_at)
     select l.id, l.project_id, l.user_id, concat('job-', b.seq), 'test', 0, 'master', false, l.sha, 'success', 'on_success',
       false, '[]', '{}', now(3), now(3) from pipelines l join seq_0_to_3 b where l.id >= ?`,
    [first]
  )
  await execute(
    `insert into issues (project_id, iid, title, description, state, author_id, created_at, updated_at)
     select ?, 1 + seq, concat('Subject ', seq), 'About', 'opened', if(seq < 100, ?, ?), now(3), now(3) from seq_0_to_499`,
    [project, user.id, firstUser]
  )
  await execute('insert into issue_counts (project_id, slot, opened) values (?, 0, 500)', [project])
  await execute(
    `insert into activity_events (happening_id, project_id, author_id, action, created_at)
     select concat('subject:', seq), ?, ?, 'pushed', now(3) from seq_0_to_499`,
    [project, user.id]
  )
  await execute(
    `update builds set artifacts_expire_at = now(3) - interval 1 day + interval id second
     where artifacts_expire_at is not null order by id limit 2000`
  )
  await execute('update hook_deliveries set created_at = now(3) - interval 40 day where id <= 2000')
  await execute(
    'update ref_changes set created_at = now(3) - interval 100 day, settled_at = created_at where id <= 2000'
  )
  await execute('update audit_events set created_at = now(3) - interval 400 day where id <= 2000')
  return { project, group: group.id, user: user.id }
}

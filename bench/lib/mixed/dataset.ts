// The data of the mixed load: 100,000 projects and a million builds, in the order in which they would have been made over time,
// and 200 repositories. Making them takes some minutes, so a home with them stays in the cache (1.2 GB).
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { repositoryPath } from '../../../src/areas/projects/projects/repositories.js'
import { execute, rows } from '../../../src/db/connect/sql.js'
import { writeCommitGraph } from '../../../src/git/repository/maintenance.js'
import { createRepository } from '../../../src/git/repository/repository.js'
import type { Administrator, Prepared } from '../appliance.js'
import { runGit } from '../git.js'
import { homeWith } from '../kept-home.js'
import { PROJECTS, seedProjects, seedTokens, USERS } from '../seed.js'
import { PATHS, writeHistory } from './small-history.js'

/** Change it when the data changes. */
const VERSION = 1
export const BUILDS = 1_000_000
const BUILDS_PER_PIPELINE = 4
const REPOSITORIES = 200
const MEMBERSHIPS = 50
const CHUNK = 50_000

export interface ActiveProject {
  readonly id: number
  readonly path: string
  readonly visibility: number
  /** Users who are members, as numbers from 0. The first one owns the project. */
  readonly members: readonly number[]
}

/** What the load must know to request existing records. */
export interface Dataset {
  readonly admin: Administrator
  readonly firstUser: number
  readonly firstProject: number
  readonly users: number
  readonly projects: number
  /** The projects that have a repository and many builds. */
  readonly active: readonly ActiveProject[]
  /** Ids of commits that each repository has, and the entries of the newest commit's tree. */
  readonly commits: readonly string[]
  readonly blobs: readonly string[]
  readonly rootTree: string
  readonly paths: readonly string[]
}

/** Copies the data into a new home, and makes them first if they are not in the cache. */
export const homeWithData = (): Promise<{ home: string; dataset: Dataset }> => homeWith('mixed', VERSION, fill)

async function fill({ admin }: Prepared): Promise<Dataset> {
  process.stderr.write('bench: making 100,000 projects and 1,000,000 builds, which takes some minutes\n')
  const { firstUser, firstProject } = await seedProjects()
  await seedTokens(firstUser)
  const active = await chooseProjects(firstUser, firstProject)
  await makeMembers(firstUser, firstProject, active)
  const content = await makeRepositories(active)
  await makeBuilds(firstUser, firstProject, active, content.commits.slice(0, 20))
  await execute('analyze table users, projects, members, pipelines, builds, access_tokens')
  return { admin, firstUser, firstProject, users: USERS, projects: PROJECTS, active, ...content, paths: PATHS }
}

async function chooseProjects(firstUser: number, firstProject: number): Promise<ActiveProject[]> {
  const found = await rows<{ id: number; path: string; visibility: number; owner: number }>(
    `select p.id, concat(n.path, '/', p.path) as path, p.visibility_level as visibility, n.owner_id as owner
     from projects p join namespaces n on n.id = p.namespace_id
     where p.id >= ? and (p.id - ?) mod ${Math.floor(PROJECTS / REPOSITORIES)} = 7 order by p.id`,
    [firstProject, firstProject]
  )
  return found.map(({ id, path, visibility, owner }, at) => {
    const first = owner - firstUser
    const others = Array.from({ length: 5 }, (_, number) => (first + 11 + at * 7 + number * 3) % USERS)
    return { id, path, visibility, members: [first, ...others.filter(other => other !== first)] }
  })
}

/** Every user is a member of 50 projects; the active projects have five more members. */
async function makeMembers(firstUser: number, firstProject: number, active: readonly ActiveProject[]): Promise<void> {
  const now = new Date()
  const into = 'insert ignore into members (source_type, source_id, user_id, access_level, created_at, updated_at)'
  for (const { id, members } of active) {
    for (const member of members.slice(1)) {
      await execute(`${into} values ('project', ?, ?, 40, ?, ?)`, [id, firstUser + member, now, now])
    }
  }
  await execute(
    `${into} select 'project', ? + (u.seq * 37 + m.seq * 1999) mod ${PROJECTS}, ? + u.seq, 30, ?, ?
     from seq_0_to_${USERS - 1} u join seq_0_to_${MEMBERSHIPS - 1} m`,
    [firstProject, firstUser, now, now]
  )
}

/** Makes one repository, and copies it for the other projects. */
async function makeRepositories(active: readonly ActiveProject[]) {
  const [model = '', ...others] = active.map(({ id }) => repositoryPath({ id, storage: 'default' }))
  await createRepository(model)
  await writeHistory(model)
  await runGit(['-C', model, 'repack', '-a', '-d', '-q', '--write-bitmap-index'])
  await writeCommitGraph(model)
  for (const path of others) {
    mkdirSync(dirname(path), { recursive: true })
    cpSync(model, path, { recursive: true })
  }
  const lines = async (...args: string[]) => (await runGit(['-C', model, ...args])).split('\n')
  return {
    commits: await lines('rev-list', 'master'),
    blobs: await lines('ls-tree', '-r', '--format=%(objectname)', 'master'),
    rootTree: execFileSync('git', ['-C', model, 'cat-file', 'tree', 'master^{tree}']).toString('base64')
  }
}

/**
 * Makes pipelines of four builds each. Two fifths of them belong to the active projects. The projects take turns as they would
 * over time, so that builds of one project are not next to each other in the table.
 */
async function makeBuilds(
  firstUser: number,
  firstProject: number,
  active: readonly ActiveProject[],
  shas: readonly string[]
): Promise<void> {
  const now = new Date()
  const pipelines = BUILDS / BUILDS_PER_PIPELINE
  const step = Math.floor(PROJECTS / REPOSITORIES)
  const offset = (active[0]?.id ?? 0) - firstProject
  const projectOf = (pipeline: string) =>
    `if(${pipeline} mod 5 < 2, ${offset} + ((${pipeline} * 7919) mod ${active.length}) * ${step}, (${pipeline} * 48271) mod ${PROJECTS})`
  const shaOf = (pipeline: string) => `elt(1 + ${pipeline} mod ${shas.length}, ${shas.map(() => '?').join(', ')})`
  for (let at = 0; at < pipelines; at += CHUNK / BUILDS_PER_PIPELINE) {
    const last = at + CHUNK / BUILDS_PER_PIPELINE - 1
    await execute(
      `insert into pipelines (id, project_id, ref, tag, sha, before_sha, status, source, user_id, started_at, finished_at,
         duration, created_at, updated_at)
       select 1 + seq, ? + ${projectOf('seq')}, 'master', false, ${shaOf('seq')}, repeat('0', 40), 'success', 'push',
         ? + (${projectOf('seq')}) mod ${USERS}, ?, ?, 60, ?, ?
       from seq_${at}_to_${last}`,
      [firstProject, ...shas, firstUser, now, now, now, now]
    )
    await execute(
      `insert into builds (pipeline_id, project_id, user_id, name, stage, stage_index, ref, tag, sha, status, start_when,
         allow_failure, tag_list, plan, trace_size, started_at, finished_at, created_at, updated_at)
       select l.id, l.project_id, l.user_id, concat('job-', b.seq), 'test', 0, 'master', false, l.sha,
         if((l.id + b.seq) mod 7 = 0, 'failed', 'success'), 'on_success', false, '[]',
         concat('{"script":["', repeat('make test; ', 20), '"]}'), 1000, ?, ?, ?, ?
       from pipelines l join seq_0_to_${BUILDS_PER_PIPELINE - 1} b where l.id between ? and ? order by l.id, b.seq`,
      [now, now, now, now, at + 1, last + 1]
    )
  }
}

// Checks repositories: whether all objects exist that HEAD and the refs need, and on request whether the bytes of all objects are as
// git wrote them. A repository whose files have not changed since the last check is skipped.
import { existsSync } from 'node:fs'
import { execute, rows } from '../../../db/connect/sql.js'
import { fingerprintOf } from '../../../git/repository/fingerprint.js'
import { checkRepository } from '../../../git/repository/maintenance.js'
import { faultsOfFiles } from '../../../git/repository/object-files.js'
import { ofThisMachine, repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'

interface KnownRow extends StoredProject {
  readonly fingerprint: Buffer | null
  readonly problem: string | null
}

interface DamagedRepository {
  readonly id: number
  readonly path: string
  /** The first line of git's output about it. */
  readonly problem: string
}

export interface Integrity {
  readonly damaged: readonly DamagedRepository[]
  /** Repositories that git checked in this run, and those that are unchanged since an earlier check. */
  readonly looked: number
  readonly unchanged: number
}

/** Options of a check of stored files: of repositories, or of the files of builds. */
export interface LookOptions {
  /** Check at most this many in one run. */
  readonly most?: number
  /** Check every one, also those that are unchanged since an earlier check. For repositories, also read all objects. */
  readonly all: boolean
  readonly progress?: (done: number, total: number) => void
}

const PROBLEM_LIMIT = 1000
/** Other lines name the object that needs the missing one. */
const TELLING = /^(missing|error|fatal)/

/**
 * Checks repositories and stores the result: those with a known fault first, then those with activity since the last
 * check, then the oldest. A missing repository is left to `findMissing`.
 */
export async function lookIntoRepositories({ most, all, progress }: LookOptions): Promise<Integrity> {
  const limit = most === undefined ? '' : `limit ${Math.trunc(most)}`
  // The row of a project records activity at most once an hour.
  const ours = ofThisMachine('p.storage')
  const projects = await rows<KnownRow>(
    `select p.id, p.storage, c.fingerprint, c.problem from projects p left join repository_checks c on c.project_id = p.id
     where ${ours.sql}
     order by c.problem is null, c.looked_at is not null and c.looked_at > p.last_activity_at + interval 1 hour,
       c.looked_at, p.id ${limit}`,
    ours.values
  )
  const damaged: DamagedRepository[] = []
  let [looked, unchanged] = [0, 0]
  for (const [at, project] of projects.entries()) {
    progress?.(at, projects.length)
    const path = repositoryPath(project)
    if (!existsSync(path)) continue
    const fingerprint = await fingerprintOf(path)
    const same = !all && project.problem === null && project.fingerprint?.equals(fingerprint)
    if (same) unchanged++
    else looked++
    // Only reading the objects again can show that a known fault is repaired.
    const problem = same ? null : await problemOf(path, all || project.problem !== null)
    await note(project.id, fingerprint, problem)
    if (problem !== null) damaged.push({ id: project.id, path, problem })
  }
  return { damaged, looked, unchanged }
}

/** A check of one repository that a person requested. */
export interface Look {
  /** `empty`: nothing was pushed yet, and the repository need not exist. `waiting`: a job fills it. */
  readonly state: 'intact' | 'damaged' | 'empty' | 'waiting'
  /** The lines of git's output about the faults, at most 100. */
  readonly problems: readonly string[]
}

/** Checks the repository of a project and stores the result, also when it is unchanged since the last check. */
export async function lookIntoRepository(
  project: StoredProject & { readonly default_branch: string | null; readonly import_state: string | null },
  options: { readonly signal: AbortSignal; readonly contents: boolean }
): Promise<Look> {
  if (project.import_state === 'waiting') return { state: 'waiting', problems: [] }
  const path = repositoryPath(project)
  if (!existsSync(path)) {
    if (project.default_branch === null) return { state: 'empty', problems: [] }
    return { state: 'damaged', problems: [`${path} does not exist`] }
  }
  const fingerprint = await fingerprintOf(path)
  const { ok, problems } = await checkTwice(path, options)
  await note(project.id, fingerprint, ok ? null : tellingOf(problems))
  if (!ok) return { state: 'damaged', problems }
  return { state: project.default_branch === null ? 'empty' : 'intact', problems: [] }
}

/** Checks twice before it reports a missing object: a repack moves objects while git looks for them. */
async function checkTwice(path: string, options: Parameters<typeof checkRepository>[1]) {
  const first = await checkRepository(path, options)
  return first.ok ? first : checkRepository(path, options)
}

async function problemOf(path: string, contents: boolean): Promise<string | null> {
  const { ok, problems } = await checkTwice(path, {})
  if (!ok) return tellingOf(problems)
  return contents ? ((await faultsOfFiles(path))[0] ?? null) : null
}

const tellingOf = (problems: readonly string[]): string =>
  problems.find(line => TELLING.test(line)) ?? problems[0] ?? 'git finds a fault'

async function note(projectId: number, fingerprint: Buffer, problem: string | null): Promise<void> {
  await execute(
    `insert into repository_checks (project_id, looked_at, fingerprint, problem) values (?, ?, ?, ?)
     on duplicate key update looked_at = values(looked_at), fingerprint = values(fingerprint),
       problem = values(problem)`,
    [projectId, new Date(), fingerprint, problem?.slice(0, PROBLEM_LIMIT) ?? null]
  )
}

/** Any fingerprint of an existing repository differs from this one. */
const UNKNOWN = Buffer.alloc(32)

/** Stores a fault that other code found. Doctor reports it until a check finds the repository intact. */
export async function noteFault(projectId: number, fault: string): Promise<void> {
  await execute(
    `insert into repository_checks (project_id, looked_at, fingerprint, problem) values (?, ?, ?, ?)
     on duplicate key update problem = values(problem)`,
    [projectId, new Date(), UNKNOWN, fault.slice(0, PROBLEM_LIMIT)]
  )
}

/** Stores that all objects of a repository were read. */
export async function noteContents(projectId: number): Promise<void> {
  const now = new Date()
  await execute(
    `insert into repository_checks (project_id, looked_at, fingerprint, contents_at) values (?, ?, ?, ?)
     on duplicate key update contents_at = values(contents_at)`,
    [projectId, now, UNKNOWN, now]
  )
}

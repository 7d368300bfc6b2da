// Checks a restored home: every ref has the value in its row, every repository is complete, and the secrets decrypt the encrypted
// columns. The checks use the home and database of this process.
import { existsSync } from 'node:fs'
import { config } from '../../../config.js'
import { rows } from '../../../db/connect/sql.js'
import { objectInfo } from '../../../git/objects/reader.js'
import { fileRefName, readRefFiles } from '../../../git/refs/files.js'
import { ZERO } from '../../../git/refs/refs.js'
import { checkRepository } from '../../../git/repository/maintenance.js'
import { faultsOfFiles } from '../../../git/repository/object-files.js'
import { mapBounded } from '../../../lib/bounded.js'
import { sizeOf } from '../../../storage/measure.js'
import { findUndecryptable } from '../../ground/settings/encrypted-values.js'
import { lookAtObjects } from '../../projects/lfs/usage.js'
import { repositoryPath } from '../../projects/projects/repositories.js'

/** The results of the checks, which add to it while they run. */
export interface Findings {
  repositories: number
  refs: number
  /** Differences between the copy and the original. */
  readonly problems: string[]
  /** Defects that the original probably has as well. */
  readonly notes: string[]
}

interface CheckedProject {
  readonly id: number
  readonly storage: string
  readonly default_branch: string | null
}

const AT_ONCE = 2
const PROBLEMS = 1000

/** Runs all checks. It returns their findings and does not throw for them. */
export async function checkRestored(progress?: (done: number, total: number) => void): Promise<Findings> {
  const findings: Findings = { repositories: 0, refs: 0, problems: [], notes: [] }
  const projects = await rows<CheckedProject>('select id, storage, default_branch from projects order by id')
  let done = 0
  await mapBounded(projects, AT_ONCE, async project => {
    if (findings.problems.length < PROBLEMS) await checkProject(project, findings)
    progress?.(++done, projects.length)
  })
  await checkBuildFiles(findings)
  await checkLfs(findings)
  await checkSecrets(findings)
  return findings
}

async function checkProject(project: CheckedProject, findings: Findings): Promise<void> {
  const path = repositoryPath(project)
  const said = await rows<{ ref: string; new_id: string }>(
    `select c.ref, c.new_id from ref_changes c join (select max(id) as id from ref_changes
       where project_id = ? and state = 'done' group by ref) last on last.id = c.id`,
    [project.id]
  )
  if (!existsSync(path)) {
    const lost = said.some(({ new_id }) => new_id !== ZERO)
    if (lost) findings.problems.push(`project ${project.id} has no repository, but its rows name refs`)
    return
  }
  findings.repositories += 1
  const { ok, problems } = await checkRepository(path)
  if (!ok) findings.problems.push(`project ${project.id}: git fsck: ${problems[0] ?? 'failed'}`)
  const [fault] = await faultsOfFiles(path)
  if (fault !== undefined) findings.problems.push(`project ${project.id}: ${fault}`)
  const refs = readRefFiles(path)
  findings.refs += refs.size
  for (const { ref, new_id } of said) {
    const value = refs.get(fileRefName(ref)) ?? ZERO
    if (value !== new_id)
      findings.problems.push(`project ${project.id}: ${ref} is ${value}, but its row says ${new_id}`)
  }
  if (project.default_branch !== null && !refs.has(fileRefName(`refs/heads/${project.default_branch}`))) {
    findings.problems.push(`project ${project.id}: its default branch ${project.default_branch} does not exist`)
  }
  await checkPipelines(project, path, findings)
}

/** git prunes an unreachable commit after two weeks, in the original as well. So a missing commit is only a note. */
async function checkPipelines(project: CheckedProject, path: string, findings: Findings): Promise<void> {
  const shas = await rows<{ sha: string }>(
    'select distinct sha from (select sha from pipelines where project_id = ? order by id desc limit 1000) newest',
    [project.id]
  )
  const found = await Promise.all(shas.map(({ sha }) => objectInfo(path, sha)))
  const lost = found.filter(object => object === null).length
  if (lost > 0) findings.notes.push(`project ${project.id}: ${lost} commits of pipelines no longer exist`)
}

interface BuildRow {
  readonly id: number
  readonly artifacts_attempt: number
}

/** Counts missing archives. The appliance may have removed them between the snapshot and their copy. */
async function checkBuildFiles(findings: Findings): Promise<void> {
  let lost = 0
  for (let last = 0; ; ) {
    const found = await rows<BuildRow>(
      `select id, artifacts_attempt from builds where id > ? and artifacts_attempt is not null and erased_at is null
       order by id limit 5000`,
      [last]
    )
    for (const { id, artifacts_attempt } of found) {
      if ((await sizeOf('artifacts', { build: id, attempt: artifacts_attempt })) === null) lost += 1
    }
    const end = found.at(-1)
    if (!end) break
    last = end.id
  }
  if (lost > 0) findings.notes.push(`the archives of ${lost} builds no longer exist`)
}

/** Counts the missing objects of projects. Those in a bucket are in no backup. */
async function checkLfs(findings: Findings): Promise<void> {
  const { lost } = await lookAtObjects({})
  if (lost > 0)
    findings.notes.push(`${lost} LFS files of projects are not in the backup: they are in a bucket, or lost`)
}

async function checkSecrets({ problems }: Findings): Promise<void> {
  for (const { column } of await findUndecryptable({ all: false })) {
    problems.push(`${column} cannot be decrypted with the secrets of ${config().home}`)
  }
}

// Finds repositories whose HEAD is not the default branch of their project. A clone checks out the branch in HEAD: if
// it does not exist, the clone has no files.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rows } from '../../../db/connect/sql.js'
import { refValue } from '../../../git/refs/refs.js'
import { mendHead, setHead } from '../../../git/repository/repository.js'
import { ofThisMachine, repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'
import { sampled } from './stored-repositories.js'

interface BranchedProject extends StoredProject {
  readonly default_branch: string
}

export interface WrongHead {
  readonly project: BranchedProject
  /** `elsewhere`: HEAD names a different branch. `missing`: the default branch does not exist. */
  readonly fault: 'elsewhere' | 'missing'
}

/** Reads the HEAD of all projects, or of `sample` random ones. Missing repositories are skipped. */
export async function findWrongHeads(sample?: number): Promise<WrongHead[]> {
  const ours = ofThisMachine('storage')
  const projects = await rows<BranchedProject>(
    `select id, storage, default_branch from projects where default_branch is not null and ${ours.sql} ${sampled(sample)}`,
    ours.values
  )
  const wrong: WrongHead[] = []
  for (const project of projects) {
    const fault = await faultOf(project)
    if (fault) wrong.push({ project, fault })
  }
  return wrong
}

/** Points HEAD at the default branch where it names a different one, or nothing. Returns how many it changed. */
export async function mendHeads(sample?: number): Promise<number> {
  const wrong = (await findWrongHeads(sample)).filter(({ fault }) => fault === 'elsewhere')
  for (const { project } of wrong) {
    const path = repositoryPath(project)
    mendHead(path, project.default_branch)
    await setHead(path, project.default_branch)
  }
  return wrong.length
}

async function faultOf(project: BranchedProject): Promise<WrongHead['fault'] | undefined> {
  const path = repositoryPath(project)
  const head = await readFile(join(path, 'HEAD'), 'utf8').catch(() => null)
  if (head === null && !existsSync(path)) return
  const ref = `refs/heads/${project.default_branch}`
  // A ref that cannot be read exists, and `integrity` reports it.
  if ((await refValue(path, ref).catch(() => ref)) === null) return 'missing'
  return head === `ref: ${ref}\n` ? undefined : 'elsewhere'
}

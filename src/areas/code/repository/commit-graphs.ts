// Finds repositories without a commit graph that no job is about to write.
import { existsSync } from 'node:fs'
import { rows } from '../../../db/connect/sql.js'
import { hasCommitGraph, writeCommitGraph } from '../../../git/repository/maintenance.js'
import { ofThisMachine, repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'
import { sampled } from './stored-repositories.js'

/** Returns the projects without a commit graph, among all projects or among `sample` random ones. */
export async function missingGraphs(sample?: number): Promise<StoredProject[]> {
  const ours = ofThisMachine('storage')
  const projects = await rows<StoredProject>(
    `select id, storage from projects where default_branch is not null and (optimise_at is null or optimise_at < ?)
       and ${ours.sql} ${sampled(sample)}`,
    [new Date(Date.now() - 3_600_000), ...ours.values]
  )
  const missing: StoredProject[] = []
  for (const project of projects) {
    const path = repositoryPath(project)
    if (existsSync(path) && !(await hasCommitGraph(path))) missing.push(project)
  }
  return missing
}

/** Writes the missing commit graphs. Returns their number. */
export async function writeMissingGraphs(sample?: number): Promise<number> {
  const missing = await missingGraphs(sample)
  for (const project of missing) await writeCommitGraph(repositoryPath(project))
  return missing.length
}

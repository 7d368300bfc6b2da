import { existsSync } from 'node:fs'
import { execute, row } from '../../db/sql.js'
import { writeCommitGraph } from '../../git/maintenance.js'
import { repositoryPath } from '../projects/repositories.js'

/** Writes a repository's commit graph: with it the last commit of a path takes 6 ms on 82k commits, without 140. */
export async function optimiseRepository(projectId: number): Promise<void> {
  // Free for the next push first: one that comes meanwhile schedules another round.
  await execute('update projects set optimise_at = null where id = ?', [projectId])
  const project = await row<{ id: number; storage: string }>('select id, storage from projects where id = ?', [
    projectId
  ])
  if (!project) return
  const path = repositoryPath(project)
  if (existsSync(path)) await writeCommitGraph(path)
}

import { existsSync } from 'node:fs'
import { row } from '../../../db/connect/sql.js'
import {
  needsBitmap,
  needsCommitGraph,
  repackRepository,
  writeCommitGraph
} from '../../../git/repository/maintenance.js'
import { clearOptimisation } from '../../projects/projects/project-columns.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { measureRepository } from './statistics.js'

/**
 * Writes the commit graph of a repository when it lacks many commits. With 82k commits, finding the last commit of a path
 * takes 6 ms with it, 140 ms without. After a large push it also packs everything into one pack with a bitmap, which makes
 * clones cheap. Most jobs start no process.
 */
export async function optimiseRepository(projectId: number): Promise<void> {
  // Clears the mark first: a push in the meantime schedules another job.
  await clearOptimisation(projectId)
  const project = await row<{ id: number; storage: string; default_branch: string | null }>(
    'select id, storage, default_branch from projects where id = ?',
    [projectId]
  )
  if (!project) return
  const path = repositoryPath(project)
  if (!existsSync(path)) return
  if (await needsCommitGraph(path)) await writeCommitGraph(path)
  if (await needsBitmap(path)) await repackRepository(path)
  await measureRepository(project)
}

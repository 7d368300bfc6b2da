import { existsSync } from 'node:fs'
import { execute, row } from '../../db/sql.js'
import { needsBitmap, repackRepository, writeCommitGraph } from '../../git/maintenance.js'
import { repositoryPath } from '../projects/repositories.js'
import { measureRepository } from './measure.js'

/**
 * Writes the commit graph of a repository. On 82k commits, the last commit of a path takes 6 ms with it, 140 ms
 * without. After a large push it also packs everything into one pack with a bitmap, which makes clones cheap.
 */
export async function optimiseRepository(projectId: number): Promise<void> {
  // Clears the mark first: a push that comes meanwhile schedules another job.
  await execute('update projects set optimise_at = null where id = ?', [projectId])
  const project = await row<{ id: number; storage: string; default_branch: string | null }>(
    'select id, storage, default_branch from projects where id = ?',
    [projectId]
  )
  if (!project) return
  const path = repositoryPath(project)
  if (!existsSync(path)) return
  await writeCommitGraph(path)
  if (await needsBitmap(path)) await repackRepository(path)
  await measureRepository(project)
}

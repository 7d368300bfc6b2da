// Puts the repository of 80,000 commits into a project, in the state after a push and its upkeep.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryPath } from '../../src/areas/projects/projects/repositories.js'
import { execute, row } from '../../src/db/connect/sql.js'
import type { Prepared } from './appliance.js'
import { pushTo } from './pushes.js'
import { createProject } from './rest.js'

export interface PushedHistory {
  readonly projectId: number
  readonly repository: string
}

/** Pushes the history and waits for its upkeep, which an idle appliance does ten seconds later. */
export async function pushHistory(appliance: Prepared, source: string): Promise<PushedHistory> {
  const project = await createProject(appliance, 'history')
  await pushTo(appliance, project, source)
  const repository = repositoryPath({ id: project.id, storage: 'default' })
  for (let tries = 0; !existsSync(join(repository, 'objects/info/commit-graphs')); tries++) {
    if (tries === 1200) throw new Error('the commit graph was not written within two minutes')
    await execute("update jobs set run_at = ? where name = 'repository.optimise' and state = 'delayed'", [new Date()])
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  while (await row('select 1 as busy from jobs limit 1')) await new Promise(resolve => setTimeout(resolve, 100))
  return { projectId: project.id, repository }
}

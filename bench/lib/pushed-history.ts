// Puts the repository of 80,000 commits into a project, in the state after a push and its upkeep.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { repositoryPath } from '../../src/areas/projects/projects/repositories.js'
import { execute, row } from '../../src/db/connect/sql.js'
import type { Prepared } from './appliance.js'
import { pushTo } from './pushes.js'
import { createProject, type ProjectRecord } from './rest.js'

export interface PushedHistory {
  readonly project: ProjectRecord
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
    await sleep(100)
  }
  await finishJobs()
  return { project, repository }
}

/** Waits until no job is left. Jobs that are due later run at once. */
export async function finishJobs(): Promise<void> {
  while (await row('select 1 as busy from jobs limit 1')) {
    await execute("update jobs set run_at = ? where state = 'delayed'", [new Date()])
    await sleep(100)
  }
}

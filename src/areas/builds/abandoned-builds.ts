import type { Task } from '../../queue/task.js'
import { findLostBuilds, reviveBuilds } from './revive.js'

export const abandonedBuilds: Task = {
  name: 'abandoned_builds',
  schedule: '41 * * * *',
  about: 'gives builds another job that wait or run while their job or worker is gone',
  run: async ({ dryRun, count, note }) => {
    const revived = dryRun ? await findLostBuilds() : await reviveBuilds()
    count(revived.length)
    for (const id of revived) note(`build ${id}`)
    return undefined
  }
}

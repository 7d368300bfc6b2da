import type { Task } from '../../queue/task.js'
import { addMissingWakeUps, countMissingWakeUps } from './wake-ups.js'

export const abandonedBuilds: Task = {
  name: 'abandoned_builds',
  schedule: '41 * * * *',
  about: 'wakes the built-in runner for builds that wait, or whose worker is gone, while no job wakes it',
  run: async ({ dryRun, count }) => {
    count(dryRun ? await countMissingWakeUps() : await addMissingWakeUps())
    return undefined
  }
}

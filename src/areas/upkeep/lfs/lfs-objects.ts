// Removes LFS objects that no project has had for `lfs.keep_days`.
import { config } from '../../../config.js'
import { daysAgo, type Task } from '../../../queue/task.js'
import { countUnused, removeUnused } from '../../projects/lfs/unused.js'

export const lfsObjects: Task = {
  name: 'lfs_objects',
  schedule: '53 3 * * *',
  about: 'removes LFS objects that no project has had for `lfs.keep_days` days',
  run: async ({ dryRun, signal, count }) => {
    const before = daysAgo(config().lfs.keep_days)
    if (dryRun) {
      const { objects, bytes } = await countUnused(before)
      count(objects)
      return { bytes }
    }
    let bytes = 0
    await removeUnused(before, signal, ({ size }) => {
      count()
      bytes += size
    })
    return { bytes }
  }
}

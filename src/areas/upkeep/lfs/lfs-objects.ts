// Removes LFS objects that no project has had for `lfs.keep_days`, and uploads to the bucket that no client has finished.
import { config } from '../../../config.js'
import { daysAgo, type Task } from '../../../queue/task.js'
import { lateLfsUploads, removeLfsUpload } from '../../../storage/lfs-uploads.js'
import { countUnused, removeUnused } from '../../projects/lfs/unused.js'

export const lfsObjects: Task = {
  name: 'lfs_objects',
  schedule: '53 3 * * *',
  about:
    'removes LFS objects that no project has had for `lfs.keep_days` days, and uploads to a bucket that no client has finished for a day',
  run: async ({ dryRun, signal, count }) => {
    for await (const page of lateLfsUploads(daysAgo(1))) {
      for (const upload of page) {
        signal.throwIfAborted()
        if (!dryRun) await removeLfsUpload(upload)
        count()
      }
    }
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

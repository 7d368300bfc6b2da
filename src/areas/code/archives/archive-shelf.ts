// Archives of commits in the bucket, so that each machine need not create them again (storage.archives).
import { stat } from 'node:fs/promises'
import { BucketUnavailable } from '../../../errors.js'
import type { ArchiveShelf } from '../../../git/repository/archive-cache.js'
import { listObjects, openObject, putObject, removeObject } from '../../../storage/s3.js'

/** A download never fails because of the bucket: the log has said that it is away. */
function unlessAway(error: unknown): undefined {
  if (!(error instanceof BucketUnavailable)) throw error
}

export const bucketShelf: ArchiveShelf = {
  open: name => openObject(name).catch(unlessAway),

  put: async (name, path) => {
    const found = await stat(path).catch(() => undefined)
    if (found) await putObject(name, path, found.size).catch(unlessAway)
  },

  drop: async start => {
    for await (const page of listObjects(start)) for (const { name } of page) await removeObject(name)
  }
}

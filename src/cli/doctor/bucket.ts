// Checks the bucket for files of builds with a request, without storing anything.
import { config } from '../../config.js'
import { Ailment, type Check } from './check.js'

export const bucketCheck: Check = {
  name: 'bucket',
  about: 'the bucket of artifacts.s3 exists and accepts the keys, if one is configured',
  examine: async () => {
    const { bucket, endpoint, region } = config().artifacts.s3
    if (bucket === null) return 'not needed: artifacts.s3.bucket is not set'
    const where = `the bucket ${bucket} at ${endpoint ?? region}`
    // Loaded here, because the SDK takes 100 ms.
    const { requireBucket } = await import('../../storage/s3.js')
    try {
      await requireBucket()
      return `${where} answers`
    } catch (error) {
      throw new Ailment(
        `${where}: ${error instanceof Error ? error.message : String(error)}`,
        'correct artifacts.s3 in the configuration, or the rights of its keys: builds cannot store archives'
      )
    }
  }
}

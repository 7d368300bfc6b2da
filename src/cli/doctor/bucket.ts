// Tries the bucket with objects of its own: everything that the configuration needs.
import { BucketUnavailable } from '../../errors.js'
import { bucketSettings, hasBucket } from '../../storage/places.js'
import { Ailment, type Check } from './check.js'

export const bucketCheck: Check = {
  name: 'bucket',
  about:
    'an object can be written to the bucket, read, listed and deleted, if a bucket is configured; with direct uploads, also copied, and its checksum is compared',
  examine: async () => {
    if (!hasBucket()) return 'not needed: storage.s3.bucket is not set'
    const { bucket, endpoint, region } = bucketSettings()
    const where = `the bucket ${bucket} at ${endpoint ?? region}`
    // Loaded here, because the SDK takes 100 ms.
    const { TrialFailed, tryBucket } = await import('../../storage/bucket-trial.js')
    try {
      return `${where} answers: ${(await tryBucket()).join(', ')}`
    } catch (error) {
      if (!(error instanceof TrialFailed)) throw error
      const { step, reason } = error
      throw new Ailment(
        `${where}: ${step}: ${reason.message.replace(/: [^:]*$/, '')}`,
        reason instanceof BucketUnavailable ? reason.remedy : 'check that the service is compatible with S3'
      )
    }
  }
}

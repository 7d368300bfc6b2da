// Says where each kind of file is kept: in a folder of the home, or in the bucket. Files of both places are found while a bucket is
// configured, so a kind can move while the appliance runs (gitstead storage migrate).
import { type Config, config } from '../config.js'

export const KINDS = ['artifacts', 'traces', 'uploads', 'lfs', 'caches', 'archives', 'records', 'backups'] as const
export type Kind = (typeof KINDS)[number]
export type Place = 's3' | 'folder'

export type BucketSettings = Config['storage']['s3']

let known: { readonly of: Config; readonly settings: BucketSettings } | undefined

/** The section storage.s3, or the bucket of its former name artifacts.s3. The same configuration returns the same object. */
export function bucketSettings(): BucketSettings {
  const of = config()
  if (known?.of !== of) {
    const { storage, artifacts } = of
    known = { of, settings: storage.s3.bucket === null ? { ...storage.s3, ...artifacts.s3 } : storage.s3 }
  }
  return known.settings
}

/** Whether a bucket is configured. */
export const hasBucket = (): boolean => bucketSettings().bucket !== null

/** Where new files of a kind are kept. */
export function placeOf(kind: Kind): Place {
  const { storage, uploads } = config()
  const chosen = storage[kind]
  if (chosen !== null) return chosen
  if (!hasBucket()) return 'folder'
  if (kind === 'artifacts' || kind === 'traces') return 's3'
  if (kind === 'records' || kind === 'lfs') return storage.s3.bucket !== null ? 's3' : 'folder'
  // The bucket of artifacts.s3 took uploads only if uploads.bucket was true.
  if (kind === 'uploads') return storage.s3.bucket !== null || uploads.bucket ? 's3' : 'folder'
  return 'folder'
}

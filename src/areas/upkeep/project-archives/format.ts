// The archive of one project. Its design:
// - The container is a zip file (yazl, yauzl): entries are streamed without knowing their size in advance, and a truncated
//   file has no list of entries, so it is rejected before anything is read.
// - Entries have a fixed order: manifest.json (format, version, counts), records.jsonl, refs.jsonl, repository.pack,
//   uploads/SECRET/NAME, traces/BUILD.log, artifacts/BUILD.zip, lfs/OID, SHA256SUMS. BUILD is the number of a build record, OID the
//   SHA-256 of an object of LFS. No other entries are allowed, and no name is used as a path unchecked.
// - The avatar of a project is one of its uploads, which the record of the project names.
// - Rows are records with names instead of ids (users by username, labels by title, issues by iid), in the order in which they
//   are inserted. ownership.ts is no help here: it lists the rows that are deleted with a project, with the ids of one appliance.
// - Git is one pack with the whole history of the branches, the tags and the commits that are kept for merge requests. The target
//   checks it like a push, and sets the refs itself.
// - An import loads into a project that counts as removed: its id is in project_removals, so nobody sees a row of it, and the job
//   of removals deletes the remains of a killed import. One transaction turns it into a project.
import { Failure } from '../../../errors.js'

export const FORMAT = 2

export const MANIFEST = 'manifest.json'
export const RECORDS = 'records.jsonl'
export const REFS = 'refs.jsonl'
export const PACK = 'repository.pack'
export const UPLOADS = 'uploads/'
export const TRACES = 'traces/'
export const ARTIFACTS = 'artifacts/'
export const LFS = 'lfs/'
export const SUMS = 'SHA256SUMS'

/** The limit of bytes of one line of records.jsonl and refs.jsonl. */
export const LONGEST_LINE = 16 * 1024 * 1024
/** The limit of bytes of all records together, unpacked. */
export const MOST_RECORD_BYTES = 64 * 1024 ** 3
export const MOST_REFS = 500_000
/** The limits of bytes of the manifest, and of each line in the list of checksums. */
export const LONGEST_MANIFEST = 1024 * 1024
export const LONGEST_SUM = 400

/** What an archive has only on request. */
export const EXTRAS = ['variables', 'hook-tokens', 'traces', 'artifacts'] as const
export type Extra = (typeof EXTRAS)[number]
/** How many traces, and how many archives of builds, an archive may have. */
export const MOST_BUILD_FILES = 100_000
export const MOST_LFS_OBJECTS = 100_000
/** The import keeps the numbers of builds with files or an environment in memory. */
export const MOST_KNOWN_BUILDS = 1_000_000

/** The kinds of records, in their order. Builds and statuses come after their pipeline. */
export const KINDS = [
  'project',
  'member',
  'label',
  'milestone',
  'protected_branch',
  'release',
  'board',
  'hook',
  'variable',
  'pipeline_schedule',
  'environment',
  'issue',
  'merge_request',
  'snippet',
  'note',
  'pipeline',
  'build',
  'commit_status',
  'deployment'
] as const
export type Kind = (typeof KINDS)[number]

/** How many records of a kind an archive may have. The import keeps the names of the small kinds in memory. */
export const MOST: { readonly [K in Kind]: number } = {
  project: 1,
  member: 100_000,
  label: 4_000,
  milestone: 100_000,
  protected_branch: 100_000,
  release: 100_000,
  board: 1,
  hook: 1_000,
  variable: 10_000,
  pipeline_schedule: 1_000,
  environment: 10_000,
  issue: 10_000_000,
  merge_request: 10_000_000,
  snippet: 100_000,
  note: 100_000_000,
  pipeline: 10_000_000,
  build: 100_000_000,
  commit_status: 100_000_000,
  deployment: MOST_KNOWN_BUILDS
}

export interface Manifest {
  /** An import also reads older formats. */
  readonly format: number
  /** The version that wrote it. */
  readonly gitstead: string
  readonly exported_at: string
  /** NAMESPACE/PROJECT on the appliance that wrote it. */
  readonly project: string
  readonly counts: { readonly [K in Kind]: number }
  readonly refs: number
  readonly uploads: number
  readonly traces: number
  readonly artifacts: number
  /** Objects of LFS. */
  readonly lfs: number
}

/** An archive is truncated, damaged, too large or hostile. Nothing of it is kept. */
export class BadProjectArchive extends Failure {}

// The traces and artifacts of builds, and the objects of LFS in an archive.
import { Readable } from 'node:stream'
import { Failure } from '../../../errors.js'
import { openArtifact } from '../../../storage/artifacts.js'
import type { BuildKey } from '../../../storage/files.js'
import { type LfsKey, openLfsObject, sizeOfLfsObject } from '../../../storage/lfs.js'
import { openTrace } from '../../../storage/traces.js'
import type { KnownBuilds } from './export-records.js'
import type { ProjectRows, Row } from './export-rows.js'
import { ARTIFACTS, type Extra, LFS, MOST_LFS_OBJECTS, TRACES } from './format.js'
import type { Entry } from './write-archive.js'

/** The objects of LFS of a project that are not lost, in order. */
export async function lfsObjectsOf(source: ProjectRows, id: number): Promise<{ present: LfsKey[]; lost: number }> {
  const present: LfsKey[] = []
  let lost = 0
  for (let last = ''; ; ) {
    const found = await source.rows<LfsKey>(
      'select oid, size from lfs_links where project_id = ? and oid > ? order by oid limit 1000',
      [id, last]
    )
    for (const { oid, size } of found) {
      if ((await sizeOfLfsObject(oid)) === Number(size)) present.push({ oid, size: Number(size) })
      else lost++
    }
    const end = found.at(-1)
    // An archive with more is refused.
    if (!end || present.length > MOST_LFS_OBJECTS) return { present, lost }
    last = end.oid
  }
}

export function* lfsEntries(objects: readonly LfsKey[]): Generator<Entry> {
  for (const { oid } of objects) {
    const open = async () => {
      const found = await openLfsObject(oid)
      if (!found) throw new Failure(`the LFS file ${oid} was removed during the export: run it again`)
      return found.stream
    }
    yield { name: `${LFS}${oid}`, compress: false, open }
  }
}

interface File {
  readonly number: number
  readonly key: BuildKey
}

export interface BuildFiles extends Pick<KnownBuilds, 'noteFiles'> {
  count(): Promise<{ readonly traces: number; readonly artifacts: number }>
  /** Yields the files of all builds that `noteFiles` got. */
  entries(): Generator<Entry>
  /** How many files were lost, or expired before they were read. Their entries are empty. */
  missing(): number
}

const ENDED = ['success', 'failed', 'canceled']

export function buildFilesOf(source: ProjectRows, id: number, wanted: ReadonlySet<Extra>, now: Date): BuildFiles {
  const traces: File[] = []
  const artifacts: File[] = []
  let missing = 0
  const has = (build: Row) => ({
    trace: wanted.has('traces') && Number(build.trace_size) > 0 && ENDED.includes(String(build.status)),
    artifacts:
      wanted.has('artifacts') &&
      build.artifacts_filename !== null &&
      build.artifacts_attempt !== null &&
      (build.artifacts_expire_at === null || (build.artifacts_expire_at as Date) > now)
  })
  const entry = (name: string, open: () => Promise<{ stream: Readable } | undefined>, compress: boolean): Entry => ({
    name,
    compress,
    open: async () => {
      const found = await open()
      if (!found) missing++
      return found?.stream ?? Readable.from([])
    }
  })
  const count = async (kind: Extra, condition: string, ...values: readonly unknown[]) => {
    if (!wanted.has(kind)) return 0
    const sql = `select count(*) as total from builds where project_id = ? and ${condition}`
    return Number((await source.rows<{ total: number }>(sql, [id, ...values]))[0]?.total ?? 0)
  }
  return {
    count: async () => ({
      traces: await count('traces', 'erased_at is null and trace_size > 0 and status in (?)', ENDED),
      artifacts: await count(
        'artifacts',
        `artifacts_filename is not null and artifacts_attempt is not null
           and (artifacts_expire_at is null or artifacts_expire_at > ?)`,
        now
      )
    }),
    noteFiles: (number, build) => {
      const found = has(build)
      if (found.trace) traces.push({ number, key: { build: build.id, attempt: Number(build.attempt) } })
      if (found.artifacts)
        artifacts.push({ number, key: { build: build.id, attempt: Number(build.artifacts_attempt) } })
      return found
    },
    entries: function* () {
      for (const { number, key } of traces) yield entry(`${TRACES}${number}.log`, () => openTrace(key), true)
      for (const { number, key } of artifacts) yield entry(`${ARTIFACTS}${number}.zip`, () => openArtifact(key), false)
    },
    missing: () => missing
  }
}

// Compares archives and traces with the rows of their builds: whether they exist with the size and hash of the row.
import { execute, row, rows, type Value } from '../../../../db/connect/sql.js'
import { daysAgo } from '../../../../queue/task.js'
import { hashOf, sizeOf } from '../../../../storage/measure.js'
import type { LookOptions } from '../../../code/repository/integrity.js'

/** What the row of a build says about its files. A size is null or 0 when there should be no file. */
export interface FilesRow {
  readonly id: number
  readonly attempt: number
  readonly trace_size: number
  readonly trace_sha256: Buffer | null
  readonly artifacts_attempt: number | null
  readonly artifacts_size: number | null
  readonly artifacts_sha256: Buffer | null
}

export interface BuildFiles {
  /** One line for each file that does not match its row. */
  readonly damaged: readonly string[]
  readonly looked: number
  /** Whether this run reached the newest build. */
  readonly complete: boolean
}

const BATCH = 500
const MARK = 'build_files'

/**
 * Checks the files of finished builds in the order of their ids, and stores how far it came without a fault. With `all`
 * it begins with the first build instead of after those of earlier runs.
 */
export async function lookAtBuildFiles({ most, all, progress }: LookOptions): Promise<BuildFiles> {
  const begin = all ? 0 : await readMark()
  const [last, unfinished] = await Promise.all([highestId(), lowestUnfinished()])
  const end = Math.min(last, begin + (most ?? last))
  const damaged: string[] = []
  let firstDamaged = Number.POSITIVE_INFINITY
  let looked = 0
  for (let after = begin; after < end; after += BATCH) {
    progress?.(after - begin, end - begin)
    for (const build of await finishedBuilds(after, Math.min(after + BATCH, end))) {
      looked++
      const faults = await faultsOf(build)
      if (faults.length > 0) firstDamaged = Math.min(firstDamaged, build.id)
      damaged.push(...faults)
    }
  }
  // The next run begins with the first fault, or with the first unfinished build.
  await writeMark(Math.min(end, unfinished - 1, firstDamaged - 1))
  return { damaged, looked, complete: end === last }
}

async function faultsOf(build: FilesRow): Promise<string[]> {
  const faults: string[] = []
  if (build.trace_size > 0) {
    const key = { build: build.id, attempt: build.attempt }
    const size = await sizeOf('traces', key)
    // A late runner may send its last lines after the end.
    if (size === null || size < build.trace_size) faults.push(faultText(build.id, 'trace', size, build.trace_size))
    else if (build.trace_sha256 && !build.trace_sha256.equals(await hashOf('traces', key, build.trace_size))) {
      faults.push(`build ${build.id}: the content of the trace differs from the stored hash`)
    }
  }
  if (build.artifacts_size !== null && build.artifacts_attempt !== null) {
    const key = { build: build.id, attempt: build.artifacts_attempt }
    const size = await sizeOf('artifacts', key)
    if (size !== build.artifacts_size) faults.push(faultText(build.id, 'archive', size, build.artifacts_size))
    else if (build.artifacts_sha256 && !build.artifacts_sha256.equals(await hashOf('artifacts', key))) {
      faults.push(`build ${build.id}: the content of the archive differs from the stored hash`)
    }
  }
  // A file may disappear during the check: because it expired, or with its project.
  return faults.length > 0 && (await isUnchanged(build)) ? faults : []
}

const faultText = (id: number, what: string, size: number | null, stored: number) =>
  `build ${id}: the ${what} ${size === null ? 'is missing' : `has ${size} bytes instead of ${stored}`}`

const FINISHED = "status in ('success', 'failed', 'canceled', 'skipped')"
const COLUMNS = 'id, attempt, trace_size, trace_sha256, artifacts_attempt, artifacts_size, artifacts_sha256'
const LIVE = 'artifacts_expire_at is null or artifacts_expire_at > ?'

const finishedBuilds = (after: number, until: number): Promise<FilesRow[]> =>
  findFiles('id > ? and id <= ? and (trace_size > 0 or artifacts_filename is not null)', [after, until])

/** Finds the files of finished builds that fulfil a condition. The files of a running build change. */
export function findFiles(condition: string, values: readonly Value[]): Promise<FilesRow[]> {
  return rows<FilesRow>(
    `select id, attempt, if(erased_at is null, trace_size, 0) as trace_size, trace_sha256, artifacts_attempt,
       artifacts_sha256,
       if(artifacts_filename is not null and (${LIVE}), artifacts_size, null) as artifacts_size
     from builds where ${condition} and ${FINISHED}`,
    [new Date(), ...values]
  )
}

async function isUnchanged({ id, attempt, artifacts_size: size }: FilesRow): Promise<boolean> {
  const now = await row<FilesRow>(
    `select ${COLUMNS} from builds b where id = ? and ${FINISHED}
       and exists (select 1 from projects p where p.id = b.project_id)`,
    [id]
  )
  return now?.attempt === attempt && (size === null || now.artifacts_size === size)
}

const highestId = async () => (await row<{ id: number }>('select id from builds order by id desc limit 1'))?.id ?? 0

/** A build that waits for more than a day may wait forever. `--all` checks it. */
async function lowestUnfinished(): Promise<number> {
  const found = await row<{ id: number | null }>(
    "select min(id) as id from builds where status in ('created', 'pending', 'running') and created_at > ?",
    [daysAgo(1)]
  )
  return found?.id ?? Number.POSITIVE_INFINITY
}

const readMark = async () =>
  Number((await row<{ value: number }>('select value from doctor_marks where name = ?', [MARK]))?.value ?? 0)

async function writeMark(value: number): Promise<void> {
  await execute('insert into doctor_marks (name, value) values (?, ?) on duplicate key update value = values(value)', [
    MARK,
    Math.max(0, value)
  ])
}

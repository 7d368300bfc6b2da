// Loads the records of an archive in parts, each in one transaction.
import { isWrongValue } from '../../../db/connect/failure.js'
import { transact } from '../../../db/connect/transact.js'
import { BadProjectArchive, KINDS, type Kind, RECORDS } from './format.js'
import type { Content } from './load-content.js'
import { finishRecords, loadRecord } from './load-records.js'
import type { Loading } from './loading.js'
import type { OpenArchive } from './read-archive.js'
import { checkRecord, fromFormat1, type ProjectRecord, type RecordOf } from './records.js'
import { stayReserved } from './staging.js'

/** Yields the records of an archive, checked, in their order, and as many of each kind as the manifest states. */
export async function* checkedRecords({ lines, manifest }: OpenArchive): AsyncGenerator<ProjectRecord> {
  const counts = Object.fromEntries(KINDS.map(kind => [kind, 0])) as { [K in Kind]: number }
  const current = manifest.format === 1 ? fromFormat1() : (value: unknown) => value
  let [number, last] = [0, 0]
  for await (const line of lines(RECORDS)) {
    number++
    const record = checkRecord(current(parsed(line, number)), `line ${number} of ${RECORDS}`)
    const isOfPipeline = record.kind === 'build' || record.kind === 'commit_status'
    const rank = KINDS.indexOf(isOfPipeline ? 'pipeline' : record.kind)
    if (rank < last) throw new BadProjectArchive(`line ${number} of ${RECORDS}: a ${record.kind} comes too late`)
    last = rank
    if (++counts[record.kind] > manifest.counts[record.kind]) throw differs(record.kind)
    yield record
  }
  for (const kind of KINDS) if (counts[kind] !== manifest.counts[kind]) throw differs(kind)
}

const differs = (kind: Kind) =>
  new BadProjectArchive(`the number of records of the kind ${kind} differs from the manifest`)

function parsed(line: string, number: number): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new BadProjectArchive(`line ${number} of ${RECORDS} is not JSON`)
  }
}

const PART = 200
/** The approximate number of characters of the texts of one part. */
const PART_SIZE = 2_000_000

/** Loads the records in parts, each in one transaction. Returns the members, who come last. */
export async function loadRecords(
  { archive, options, project }: Content,
  records: AsyncGenerator<ProjectRecord>,
  loading: Loading
): Promise<RecordOf<'member'>[]> {
  const total = KINDS.reduce((sum, kind) => sum + archive.manifest.counts[kind], 0)
  const members: RecordOf<'member'>[] = []
  let part: ProjectRecord[] = []
  let [size, done] = [0, 0]
  const flush = async () => {
    options.signal.throwIfAborted()
    await loadPart(loading, part)
    done += part.length
    options.progress?.('records', done, total)
    part = []
    size = 0
  }
  for await (const record of records) {
    if (record.kind === 'member') members.push(record)
    else part.push(record)
    size += sizeOf(record)
    if (part.length === PART || size > PART_SIZE) await flush()
  }
  await flush()
  await transact(() => finishRecords(loading.projectId, project.counters))
  return members
}

const sizeOf = (record: ProjectRecord): number =>
  Object.values(record).reduce(
    (sum: number, value) => sum + (typeof value === 'object' ? 1000 : String(value).length),
    0
  )

async function loadPart(loading: Loading, part: readonly ProjectRecord[]): Promise<void> {
  await loading.people.lookUp(part)
  const { pipeline } = loading
  try {
    await transact(async () => {
      await stayReserved(loading.projectId)
      // The transaction may run twice.
      loading.pipeline = pipeline
      for (const record of part) {
        if (record.kind !== 'project' && record.kind !== 'member') await loadRecord(loading, record)
      }
    })
  } catch (error) {
    // Problems that the check of records cannot detect: duplicate numbers, and texts that do not fit into a column.
    if (isWrongValue(error))
      throw new BadProjectArchive(`a record cannot be stored: ${(error as Error).message.slice(0, 300)}`)
    throw error
  }
}

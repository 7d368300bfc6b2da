// Finds jobs by a text among all jobs, however many there are. One call looks through a bounded number of them, in the order
// of their ids, and says where the next call goes on. So a search never holds a connection for long, and its reader can
// stop at any time.
import { row, rows, type Value } from '../db/connect/sql.js'
import { asQueue, type JobRow } from './administer.js'

/** How many jobs one call looks through. 20,000 of 200 bytes took 0.17 s on average on a busy machine. */
export const LOOKED_THROUGH = 20_000
/** How many jobs one call returns. */
export const MOST_FOUND = 100
/** The search reads so much of a payload and of an error: a payload may have megabytes. Characters. */
export const SEARCHED = 4000
export const LONGEST_TEXT = 200

export interface JobSearch {
  /** Words that the id, the queue, the name, the state, the payload or the error contains, in any case. Empty finds all. */
  readonly text?: string
  readonly queue?: string
  readonly state?: JobRow['state']
  /** The oldest jobs come first. */
  readonly oldest?: boolean
  /** Looks only at jobs that come after the job with this id. */
  readonly past?: number
}

export interface FoundJob extends Omit<JobRow, 'payload'> {
  /** Null when the payload is longer than 4,000 bytes. */
  readonly payload: string | null
}

export interface FoundJobs {
  readonly jobs: readonly FoundJob[]
  /** Where the next call goes on (`past`); null when every job was looked at. */
  readonly next: number | null
}

const COLUMNS = `id, queue, name, if(length(payload) <= ${SEARCHED}, payload, null) as payload, state, attempts, crashes,
  process_id, run_at, started_at, left(error, 2000) as error, created_at`
const SEARCHED_TEXT = `lower(concat_ws(' ', id, queue, name, state, left(payload, ${SEARCHED}), left(error, ${SEARCHED})))`

/** Looks through the next jobs. Throws Invalid when the queue does not exist. */
export async function searchJobs(search: JobSearch): Promise<FoundJobs> {
  const { text = '', queue, state, oldest = false, past } = search
  const conditions: { sql: string; values: Value[] }[] = []
  if (queue !== undefined) conditions.push({ sql: 'queue = ?', values: [asQueue(queue)] })
  if (state !== undefined) conditions.push({ sql: 'state = ?', values: [state] })
  // `instr` takes the text as it is: unlike `like`, it has no signs with a meaning of their own.
  if (text !== '') conditions.push({ sql: `instr(${SEARCHED_TEXT}, lower(?)) > 0`, values: [text] })
  const [after, upTo, direction] = oldest ? ['>', '<=', 'asc'] : ['<', '>=', 'desc']
  const beyond = past === undefined ? { sql: '1 = 1', values: [] } : { sql: `id ${after} ?`, values: [past] }
  const last = await row<{ id: number }>(
    `select id from jobs where ${beyond.sql} order by id ${direction} limit 1 offset ${LOOKED_THROUGH - 1}`,
    beyond.values
  )
  const within = last ? [{ sql: `id ${upTo} ?`, values: [last.id] }] : []
  const all = [beyond, ...within, ...conditions]
  const jobs = await rows<FoundJob>(
    `select ${COLUMNS} from jobs force index (primary) where ${all.map(({ sql }) => sql).join(' and ')}
     order by id ${direction} limit ${MOST_FOUND}`,
    all.flatMap(({ values }) => values)
  )
  if (jobs.length === MOST_FOUND) return { jobs, next: jobs.at(-1)?.id ?? null }
  return { jobs, next: last?.id ?? null }
}

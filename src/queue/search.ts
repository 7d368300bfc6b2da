// Finds jobs that contain a text, however many jobs there are. One call searches a bounded number of jobs, in the order
// of their ids, and returns where the next call continues. Thus a search never holds a connection for long, and its
// caller can stop at any time.
import { row, rows, type Value } from '../db/connect/sql.js'
import { asQueue, type JobRow } from './administer.js'

/** The number of jobs that one call searches. 20,000 jobs of 200 bytes took 0.17 s on average on a busy machine. */
export const LOOKED_THROUGH = 20_000
/** The maximum number of jobs that one call returns. */
const MOST_FOUND = 100
/** The number of characters of a payload or an error that are searched: a payload may have megabytes. */
const SEARCHED = 4000
export const LONGEST_TEXT = 200

export interface JobSearch {
  /** A text that the id, queue, name, state, payload or error contains, ignoring case. An empty text finds all jobs. */
  readonly text?: string
  readonly queue?: string
  readonly state?: JobRow['state']
  /** Returns the oldest jobs first. */
  readonly oldest?: boolean
  /** Searches only jobs after the job with this id. */
  readonly past?: number
}

interface FoundJob extends Omit<JobRow, 'payload'> {
  /** Null when the payload is longer than 4,000 bytes. */
  readonly payload: string | null
}

export interface FoundJobs {
  readonly jobs: readonly FoundJob[]
  /** Where the next call continues (`past`); null when every job was searched. */
  readonly next: number | null
}

const COLUMNS = `id, queue, name, if(length(payload) <= ${SEARCHED}, payload, null) as payload, state, attempts, crashes,
  process_id, run_at, started_at, left(error, 2000) as error, created_at`
const SEARCHED_TEXT = `lower(concat_ws(' ', id, queue, name, state, left(payload, ${SEARCHED}), left(error, ${SEARCHED})))`

/** Searches the next jobs. Throws Invalid when the queue does not exist. */
export async function searchJobs(search: JobSearch): Promise<FoundJobs> {
  const { text = '', queue, state, oldest = false, past } = search
  const conditions: { sql: string; values: Value[] }[] = []
  if (queue !== undefined) conditions.push({ sql: 'queue = ?', values: [asQueue(queue)] })
  if (state !== undefined) conditions.push({ sql: 'state = ?', values: [state] })
  // Unlike `like`, `instr` has no characters with a special meaning.
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

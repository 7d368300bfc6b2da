// Not specified: the record of one background job, for the command line and the dashboard.
import { Flag, IdOf, Integer, Moment, Nullable, OneOf, Text } from '../../../lib/schema.js'
import { parseStored } from '../../../lib/stored-json.js'
import { type Static, Type } from '../../../lib/type.js'
import type { JobRow } from '../../../queue/administer.js'
import type { FoundJobs as FoundRows } from '../../../queue/search.js'

export const Job = Type.Object(
  {
    id: IdOf('the job'),
    queue: Text('the name of its queue'),
    name: Text('what it does'),
    state: OneOf(
      ['ready', 'delayed', 'running', 'dead'],
      'BackgroundJobState',
      'the state; a dead job has failed permanently'
    ),
    payload: Type.Unknown({ description: 'the arguments of the job' }),
    attempts: Integer('tries that have started'),
    crashes: Integer('how often it crashed its process'),
    process_id: Nullable(Integer('the id of the worker process that runs it')),
    run_at: Moment('when it can run'),
    started_at: Nullable(Moment('when its current try started')),
    error: Nullable(Text('the error of the last failed try')),
    created_at: Moment('when it was enqueued')
  },
  { title: 'BackgroundJob', description: 'A job for a worker process.' }
)
export type Job = Static<typeof Job>

export const QueueState = Type.Object(
  { queue: Text('the name of the queue'), paused: Flag('whether workers take no jobs of the queue') },
  { title: 'BackgroundQueueState', description: 'Whether a queue is paused.' }
)

export const viewJob = (job: JobRow): Job => ({
  id: job.id,
  queue: job.queue,
  name: job.name,
  state: job.state,
  payload: parseStored<unknown>(job.payload, null),
  attempts: job.attempts,
  crashes: job.crashes,
  process_id: job.process_id,
  run_at: job.run_at,
  started_at: job.started_at,
  error: job.error,
  created_at: job.created_at
})

export const FoundJobs = Type.Object(
  {
    jobs: Type.Array(Job, { description: 'at most 100; a payload of more than 4,000 bytes is null' }),
    next: Nullable(IdOf('the job after which to continue, for `past`; null when all jobs were searched'))
  },
  { title: 'FoundBackgroundJobs', description: 'One step of a search among all jobs.' }
)
export type FoundJobs = Static<typeof FoundJobs>

export const viewFoundJobs = ({ jobs, next }: FoundRows): FoundJobs => ({
  jobs: jobs.map(job => viewJob({ ...job, payload: job.payload ?? 'null' })),
  next
})

// Not specified: the record of one background job, for the command line and its dashboard.
import { type Static, Type } from 'typebox'
import { DateTime, Nullable } from '../../lib/schema.js'
import type { JobRow } from '../../queue/administer.js'

export const Job = Type.Object({
  id: Type.Integer(),
  queue: Type.String(),
  name: Type.String(),
  state: Type.String(),
  payload: Type.Unknown(),
  attempts: Type.Integer({ description: 'tries that have begun' }),
  crashes: Type.Integer({ description: 'how often it took its process down' }),
  process_id: Nullable(Type.Integer()),
  run_at: DateTime,
  started_at: Nullable(DateTime),
  error: Nullable(Type.String({ description: 'of the last try that failed' })),
  created_at: DateTime
})
export type Job = Static<typeof Job>

export const viewJob = (job: JobRow): Job => ({
  id: job.id,
  queue: job.queue,
  name: job.name,
  state: job.state,
  payload: JSON.parse(job.payload) as unknown,
  attempts: job.attempts,
  crashes: job.crashes,
  process_id: job.process_id,
  run_at: job.run_at,
  started_at: job.started_at,
  error: job.error,
  created_at: job.created_at
})

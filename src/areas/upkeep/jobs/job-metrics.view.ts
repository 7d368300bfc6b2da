// The record "Background-job metrics" of the specification.
import { described, Integer } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { Process } from './job-overview.view.js'

const Queue = Type.Object(
  {
    backlog: Integer('jobs that are ready'),
    latency: Type.Number({ description: 'seconds that the oldest ready job has waited' })
  },
  { title: 'BackgroundQueue', description: 'The backlog and latency of a queue.' }
)

const Counts = Type.Object(
  {
    processed: Integer('tries that ended since the appliance was created'),
    failed: Integer('failed tries among these'),
    enqueued: Integer('jobs that are ready, delayed or running')
  },
  { title: 'BackgroundJobCounts', description: 'Counts of background jobs.' }
)

const queues = Type.Record(Type.String(), Queue, { description: 'the queues by their names' })
const processes = Type.Array(Process, { description: 'the live worker processes' })
const jobs = described(Counts, 'counts of background jobs')

export const QueueMetrics = Type.Object(
  { queues },
  { title: 'BackgroundQueueMetrics', description: 'The backlog and latency of each queue.' }
)

export const ProcessMetrics = Type.Object(
  { processes },
  { title: 'BackgroundProcessMetrics', description: 'The worker processes.' }
)

export const JobStats = Type.Object(
  { jobs },
  { title: 'BackgroundJobStats', description: 'Counts of background jobs.' }
)

export const CompoundMetrics = Type.Object(
  { queues, processes, jobs },
  { title: 'BackgroundCompoundMetrics', description: 'All metrics of background jobs.' }
)

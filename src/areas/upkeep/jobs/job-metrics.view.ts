// The record "Background-job metrics" of the requirement.
import { described, Integer } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { Process } from './job-overview.view.js'

const Queue = Type.Object(
  {
    backlog: Integer('jobs that are ready'),
    latency: Type.Number({ description: 'seconds that the oldest ready job has waited' })
  },
  { title: 'BackgroundQueue', description: 'How much waits in a queue.' }
)

const Counts = Type.Object(
  {
    processed: Integer('tries that ended, since the appliance was made'),
    failed: Integer('those of them that failed'),
    enqueued: Integer('jobs that are ready, delayed or running')
  },
  { title: 'BackgroundJobCounts', description: 'How many jobs have run.' }
)

const queues = Type.Record(Type.String(), Queue, { description: 'the queues by their names' })
const processes = Type.Array(Process, { description: 'the worker processes that show life' })
const jobs = described(Counts, 'how many jobs have run')

export const QueueMetrics = Type.Object(
  { queues },
  { title: 'BackgroundQueueMetrics', description: 'How much waits in each queue.' }
)

export const ProcessMetrics = Type.Object(
  { processes },
  { title: 'BackgroundProcessMetrics', description: 'The worker processes.' }
)

export const JobStats = Type.Object({ jobs }, { title: 'BackgroundJobStats', description: 'How many jobs have run.' })

export const CompoundMetrics = Type.Object(
  { queues, processes, jobs },
  { title: 'BackgroundCompoundMetrics', description: 'All metrics of background jobs.' }
)

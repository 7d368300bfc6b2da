import { pausedQueues } from '../../../queue/administer.js'
import * as metrics from '../../../queue/metrics.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'

export default class JobsStats extends BaseCommand {
  static override summary = 'Show queues, worker processes and counts of background jobs'
  static override description =
    'With --json: {queues, processes, jobs, paused}; the first three as in GET /bgjobs/compound_metrics.'
  static override examples = ['<%= config.bin %> jobs stats', '<%= config.bin %> jobs stats --json']

  async run() {
    const { flags } = await this.parse(JobsStats)
    this.configure(flags)
    const [queues, processes, jobs, paused] = await withDatabase(() =>
      Promise.all([metrics.queueMetrics(), metrics.processMetrics(), metrics.jobStats(), pausedQueues()])
    )
    this.log(`processed ${jobs.processed}  failed ${jobs.failed}  enqueued ${jobs.enqueued}`)
    for (const [name, { backlog, latency }] of Object.entries(queues)) {
      const state = paused.includes(name) ? '  paused' : ''
      this.log(`${name.padEnd(12)} backlog ${backlog}  latency ${latency.toFixed(3)} s${state}`)
    }
    for (const { hostname, pid, busy, concurrency } of processes) {
      this.log(`${hostname}:${pid}  busy ${busy} of ${concurrency}`)
    }
    return { queues, processes, jobs, paused }
  }
}

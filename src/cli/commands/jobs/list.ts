import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class JobsList extends BaseCommand {
  static override summary = 'List background jobs, newest first'
  static override examples = [
    '<%= config.bin %> jobs list --state dead',
    '<%= config.bin %> jobs list --queue hooks --json'
  ]
  static override flags = {
    state: Flags.option({ options: ['ready', 'delayed', 'running', 'dead'] as const })(),
    queue: Flags.string(),
    limit: Flags.integer({ default: 50, min: 1, max: 1000 })
  }

  async run() {
    const { flags } = await this.parse(JobsList)
    this.configure(flags)
    const [{ withDatabase }, { listJobs }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../queue/administer.js')
    ])
    const found = await withDatabase(() => listJobs(flags))
    const jobs = found.map(job => ({ ...job, payload: JSON.parse(job.payload) as unknown }))
    for (const job of jobs) {
      this.log(
        `${job.id}  ${job.queue}  ${job.name}  ${job.state}  attempts ${job.attempts}  ${JSON.stringify(job.payload)}`
      )
    }
    return { jobs }
  }
}

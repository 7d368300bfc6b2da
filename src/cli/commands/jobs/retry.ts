import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class JobsRetry extends BaseCommand {
  static override summary = 'Retry dead or delayed jobs at once; each gets all its tries again'
  static override description = 'With --json: {retried}, the number of jobs.'
  static override strict = false
  static override examples = ['<%= config.bin %> jobs retry 4711', '<%= config.bin %> jobs retry --dead']
  static override args = { id: Args.string({ description: 'number of a job; you can give several' }) }
  static override flags = { dead: Flags.boolean({ description: 'retry all dead jobs' }) }

  async run(): Promise<{ retried: number }> {
    const { flags, argv } = await this.parse(JobsRetry)
    this.configure(flags)
    const { jobSelection } = await import('../../job-selection.js')
    const which = jobSelection(argv.map(String), flags.dead)
    const [{ withDatabase }, { commandOrigin }, { retryJobs }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/jobs/jobs.js')
    ])
    const retried = await withDatabase(() => retryJobs(which, commandOrigin()))
    this.log(`retried ${retried}`)
    return { retried }
  }
}

import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class JobsList extends BaseCommand {
  static override summary = 'List background jobs, newest first'
  static override description =
    'Jobs that are done are not kept. With --json: {jobs, total}; total counts also those beyond --limit.'
  static override examples = [
    '<%= config.bin %> jobs list --state dead',
    '<%= config.bin %> jobs list --queue hooks --name hook.deliver --json'
  ]
  static override flags = {
    state: Flags.option({
      options: ['ready', 'delayed', 'running', 'dead'] as const,
      description: 'only those in this state'
    })(),
    queue: Flags.string({ description: 'default, builds, hooks, mail or maintenance' }),
    name: Flags.string({ description: 'such as hook.deliver' }),
    limit: Flags.integer({ default: 50, min: 1, max: 1000, description: 'how many at the most' })
  }

  async run() {
    const { flags } = await this.parse(JobsList)
    this.configure(flags)
    const [{ withDatabase }, { countJobs, listJobs }, { viewJob }, { jobTable }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../queue/administer.js'),
      import('../../../areas/jobs/jobs.view.js'),
      import('../../job-table.js')
    ])
    const [found, total] = await withDatabase(() => Promise.all([listJobs(flags), countJobs(flags)]))
    this.log(jobTable(found))
    if (total > found.length) this.log(`${found.length} of ${total}: more by --limit`)
    return { jobs: found.map(viewJob), total }
  }
}

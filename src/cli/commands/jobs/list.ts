import { countJobs, jobsBefore, listJobs } from '../../../queue/administer.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'
import { JOB_COLUMNS } from '../../output/job-table.js'

export default class JobsList extends BaseCommand {
  static override summary = 'List background jobs, newest first'
  static override description =
    'A finished job is deleted, so it is not listed. With --json: {jobs, total}; total also counts the jobs beyond --limit.'
  static override examples = [
    '<%= config.bin %> jobs list --state dead',
    '<%= config.bin %> jobs list --queue hooks --name hook.deliver --json'
  ]
  static override flags = {
    state: Flags.option({
      options: ['ready', 'delayed', 'running', 'dead'] as const,
      description: 'only jobs in this state'
    })(),
    queue: Flags.string({
      description: 'only jobs of this queue: default, builds, hooks, mail, maintenance, imports or mirrors'
    }),
    name: Flags.string({ description: 'only jobs with this name, such as hook.deliver' }),
    limit: Flags.integer({ default: 50, min: 1, max: 1000, description: 'show at most this many jobs' }),
    ...allFlag()
  }

  async run() {
    const { flags } = await this.parse(JobsList)
    this.configure(flags)
    return withDatabase(() =>
      printList({
        name: 'jobs',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: JOB_COLUMNS,
        view: async () => (await import('../../../areas/upkeep/jobs/jobs.view.js')).viewJob,
        first: async () => {
          const [items, total] = await Promise.all([listJobs(flags), countJobs(flags)])
          return { items, total }
        },
        part: (last = Number.MAX_SAFE_INTEGER) => jobsBefore(flags, last),
        idOf: ({ id }) => id
      })
    )
  }
}

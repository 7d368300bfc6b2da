import { retryJobs } from '../../../areas/upkeep/jobs/jobs.js'
import { BaseCommand } from '../../framework/base.js'
import { sortOut } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { jobSelection } from '../../input/job-selection.js'
import { orNotFound } from '../../input/or-not-found.js'
import { Args, Flags } from '../../oclif.js'

export default class JobsRetry extends BaseCommand {
  static override summary = 'Retry dead or delayed jobs at once, with a full number of attempts'
  static override description =
    'A number without a dead or delayed job does not stop the others. With --json: {retried}, the number of jobs; with numbers as arguments also failed: [{argument, error}].'
  static override strict = false
  static override examples = ['<%= config.bin %> jobs retry 4711', '<%= config.bin %> jobs retry --dead']
  static override args = { id: Args.string({ description: 'number of a job; you can give several' }) }
  static override flags = { dead: Flags.boolean({ description: 'retry all dead jobs' }) }

  async run() {
    const { flags, argv } = await this.parse(JobsRetry)
    this.configure(flags)
    const which = jobSelection(argv.map(String), flags.dead)
    if (which === 'dead') {
      const retried = await withDatabase(() => retryJobs(which, commandOrigin()))
      this.log(`retried ${retried}`)
      return { retried }
    }
    const retry = (id: number) => orNotFound('dead or delayed job', id, () => retryJobs([id], commandOrigin()))
    const { done, failed } = await withDatabase(() => sortOut(which, this.jsonEnabled(), retry))
    this.log(`retried ${done.length}`)
    return { retried: done.length, failed }
  }
}

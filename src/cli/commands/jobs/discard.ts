import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class JobsDiscard extends BaseCommand {
  static override summary = 'Discard jobs that are not running'
  static override description =
    'The work of a discarded job is never done; the delivery of a discarded hook.deliver job becomes canceled. With --json: {discarded}, or with --dry-run {would_discard, jobs} (at most 1,000 jobs).'
  static override strict = false
  static override examples = [
    '<%= config.bin %> jobs discard 4711 4712',
    '<%= config.bin %> jobs discard --dead --dry-run',
    '<%= config.bin %> jobs discard --dead'
  ]
  static override args = { id: Args.string({ description: 'number of a job; you can give several' }) }
  static override flags = {
    dead: Flags.boolean({ description: 'discard all dead jobs' }),
    'dry-run': Flags.boolean({ description: 'show which jobs would be discarded, and change nothing' })
  }

  async run() {
    const { flags, argv } = await this.parse(JobsDiscard)
    this.configure(flags)
    const { jobSelection } = await import('../../job-selection.js')
    const which = jobSelection(argv.map(String), flags.dead)
    const [{ withDatabase }, { commandOrigin }, rules] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/jobs/jobs.js')
    ])
    if (flags['dry-run']) {
      const [{ viewJob }, { jobTable }] = await Promise.all([
        import('../../../areas/jobs/jobs.view.js'),
        import('../../job-table.js')
      ])
      const { jobs, total } = await withDatabase(() => rules.discardableJobs(which))
      this.log(`would discard ${total}\n${jobTable(jobs)}`)
      return { would_discard: total, jobs: jobs.map(viewJob) }
    }
    const discarded = await withDatabase(() => rules.discardJobs(which, commandOrigin()))
    this.log(`discarded ${discarded}`)
    return { discarded }
  }
}

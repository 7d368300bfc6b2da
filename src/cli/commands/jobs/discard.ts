import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'
import { confirm, destroyingFlags, requireAnswer } from '../../confirm.js'

export default class JobsDiscard extends BaseCommand {
  static override summary = 'Discard jobs that are not running'
  static override description =
    'The work of a discarded job is never done; the delivery of a discarded hook.deliver job becomes canceled. With --json: {discarded}, or with --dry-run {would_discard, jobs} (at most 1,000 jobs).'
  static override strict = false
  static override examples = [
    '<%= config.bin %> jobs discard 4711 4712 --yes',
    '<%= config.bin %> jobs discard --dead --dry-run',
    '<%= config.bin %> jobs discard --dead --yes'
  ]
  static override args = { id: Args.string({ description: 'number of a job; you can give several' }) }
  static override flags = {
    dead: Flags.boolean({ description: 'discard all dead jobs' }),
    ...destroyingFlags
  }

  async run() {
    const { flags, argv } = await this.parse(JobsDiscard)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!flags['dry-run']) requireAnswer(how)
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
    const discarded = await withDatabase(async () => {
      if (!how.yes) await confirm(`to discard ${(await rules.discardableJobs(which)).total} jobs`, how)
      return rules.discardJobs(which, commandOrigin())
    })
    this.log(`discarded ${discarded}`)
    return { discarded }
  }
}

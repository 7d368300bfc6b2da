import type { JobRow } from '../../../queue/administer.js'
import { BaseCommand } from '../../base.js'
import { type Confirming, confirm, destroyingFlags, requireAnswer } from '../../confirm.js'
import { Args, Flags } from '../../oclif.js'

export default class JobsDiscard extends BaseCommand {
  static override summary = 'Discard jobs that are not running'
  static override description =
    'The work of a discarded job is never done: the delivery of a hook.deliver job and the build of a build.run job are canceled, unless with --dead another job does the same build. A number that no such job has does not stop the others. With --json: {discarded}, or with --dry-run {would_discard, jobs} (at most 1,000 jobs); for numbers also failed: [{argument, error}].'
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
    return which === 'dead'
      ? this.allDead(flags['dry-run'] === true, how)
      : this.some(which, flags['dry-run'] === true, how)
  }

  private async allDead(dryRun: boolean, how: Confirming) {
    const [{ withDatabase }, { commandOrigin }, rules] = await load()
    if (dryRun) {
      const { jobs, total } = await withDatabase(() => rules.discardableJobs('dead'))
      return this.would(jobs, total)
    }
    const discarded = await withDatabase(async () => {
      if (!how.yes) await confirm(`to discard ${(await rules.discardableJobs('dead')).total} jobs`, how)
      return rules.discardJobs('dead', commandOrigin())
    })
    this.log(`discarded ${discarded}`)
    return { discarded }
  }

  private async some(ids: readonly number[], dryRun: boolean, how: Confirming) {
    const [[{ withDatabase }, { commandOrigin }, rules], { asked }, { sortOut }] = await Promise.all([
      load(),
      import('../../asked.js'),
      import('../../each.js')
    ])
    const look = (id: number) => asked('job that can be discarded', id, () => rules.discardableJobs([id]))
    const discard = (id: number) =>
      asked('job that can be discarded', id, () => rules.discardJobs([id], commandOrigin()))
    return withDatabase(async () => {
      if (dryRun) {
        const { done, failed } = await sortOut(ids, how.json, look)
        return {
          ...(await this.would(
            done.flatMap(({ result }) => result.jobs),
            done.length
          )),
          failed
        }
      }
      if (!how.yes) await confirm(`to discard ${ids.length === 1 ? 'job' : 'the jobs'} ${ids.join(' ')}`, how)
      const { done, failed } = await sortOut(ids, how.json, discard)
      this.log(`discarded ${done.length}`)
      return { discarded: done.length, failed }
    })
  }

  private async would(jobs: readonly JobRow[], total: number) {
    const [{ viewJob }, { jobTable }] = await Promise.all([
      import('../../../areas/jobs/jobs.view.js'),
      import('../../job-table.js')
    ])
    this.log(`would discard ${total}\n${jobTable(jobs)}`)
    return { would_discard: total, jobs: jobs.map(viewJob) }
  }
}

const load = () =>
  Promise.all([import('../../with-database.js'), import('../../origin.js'), import('../../../areas/jobs/jobs.js')])

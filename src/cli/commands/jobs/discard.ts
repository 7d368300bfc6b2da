import { discardableJobs, discardJobs } from '../../../areas/upkeep/jobs/jobs.js'
import { viewJob } from '../../../areas/upkeep/jobs/jobs.view.js'
import { counted } from '../../../lib/counted.js'
import type { JobRow } from '../../../queue/administer.js'
import { BaseCommand } from '../../framework/base.js'
import { type Confirming, confirm, destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { sortOut } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { jobSelection } from '../../input/job-selection.js'
import { orNotFound } from '../../input/or-not-found.js'
import { Args, Flags } from '../../oclif.js'
import { jobTable } from '../../output/job-table.js'

export default class JobsDiscard extends BaseCommand {
  static override summary = 'Discard jobs that are not running'
  static override description =
    'The work of a discarded job is never done: the delivery of a hook.deliver job and the build of a build.run job are canceled. With --dead, a build that another job runs is not canceled. A number without such a job does not stop the others. With --json: {discarded}, or with --dry-run {would_discard, jobs} (at most 1,000 jobs); with numbers as arguments also failed: [{argument, error}].'
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
    const which = jobSelection(argv.map(String), flags.dead)
    return which === 'dead'
      ? this.allDead(flags['dry-run'] === true, how)
      : this.some(which, flags['dry-run'] === true, how)
  }

  private async allDead(dryRun: boolean, how: Confirming) {
    if (dryRun) {
      const { jobs, total } = await withDatabase(() => discardableJobs('dead'))
      return this.would(jobs, total)
    }
    const discarded = await withDatabase(async () => {
      if (!how.yes) await confirm(`to discard ${counted((await discardableJobs('dead')).total, 'job')}`, how)
      return discardJobs('dead', commandOrigin())
    })
    this.log(`discarded ${discarded}`)
    return { discarded }
  }

  private async some(ids: readonly number[], dryRun: boolean, how: Confirming) {
    const look = (id: number) => orNotFound('job that can be discarded', id, () => discardableJobs([id]))
    const discard = (id: number) =>
      orNotFound('job that can be discarded', id, () => discardJobs([id], commandOrigin()))
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
    this.log(`would discard ${total}\n${jobTable(jobs)}`)
    return { would_discard: total, jobs: jobs.map(viewJob) }
  }
}

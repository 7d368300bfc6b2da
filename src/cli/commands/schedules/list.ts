import * as queries from '../../../areas/ci/pipelines/schedules/schedules.queries.js'
import { BadParameters } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Args, Flags } from '../../oclif.js'
import { table } from '../../output/table.js'

export default class SchedulesList extends BaseCommand {
  static override summary = 'List pipeline schedules, oldest first'
  static override description =
    'With --json: {schedules, total}, each with id, project_id, project, owner, description, ref, cron, active, has_variables, next_run_at, last_run_at, last_pipeline_id, last_error, created_at and updated_at.'
  static override examples = ['<%= config.bin %> schedules list', '<%= config.bin %> schedules list ada/engine --json']
  static override args = {
    project: Args.string({ description: 'only schedules of this project: NAMESPACE/PROJECT or number' })
  }
  static override flags = {
    project: Flags.string({ description: 'the same as PROJECT, as in the lists of builds and pipelines' }),
    limit: Flags.integer({ default: 100, min: 1, max: 10_000, description: 'show at most this many schedules' })
  }

  async run() {
    const { args, flags } = await this.parse(SchedulesList)
    this.configure(flags)
    const of = args.project ?? flags.project
    if (args.project !== undefined && flags.project !== undefined) {
      const text = 'name the project once: as PROJECT or with --project'
      throw new BadParameters(text, text)
    }
    const { items, total } = await withDatabase(async () => {
      const id = of === undefined ? undefined : (await requireNamedProject(of)).id
      return queries.listSchedules(id, flags.limit)
    })
    this.log(
      table(items, [
        ['ID', schedule => schedule.id],
        ['PROJECT', schedule => schedule.project],
        ['REF', schedule => schedule.ref],
        ['CRON', schedule => schedule.cron],
        ['OWNER', schedule => schedule.username],
        ['STATE', schedule => (schedule.active ? 'active' : 'paused')],
        ['NEXT', schedule => schedule.next_run_at],
        ['LAST', schedule => schedule.last_run_at],
        ['PIPELINE', schedule => schedule.last_pipeline_id],
        ['ERROR', schedule => schedule.last_error]
      ])
    )
    if (total > items.length) this.logToStderr(`${items.length} of ${total} schedules: raise --limit to see more`)
    return { schedules: items.map(queries.viewSchedule), total }
  }
}

import { createSchedule } from '../../../areas/ci/pipelines/schedules/schedules.js'
import { viewSchedule } from '../../../areas/ci/pipelines/schedules/schedules.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import * as words from '../../input/variables-flag.js'
import { Args, Flags } from '../../oclif.js'
import { CRON, scheduleFlags } from '../../topics/schedule-flags.js'

export default class SchedulesCreate extends BaseCommand {
  static override summary = 'Create a schedule, which runs pipelines of a branch or tag at set times'
  static override description =
    'If times pass while no worker runs, one pipeline is run afterwards. Variables are stored encrypted. If the owner loses the right to create pipelines, the schedule runs none; if the owner is deleted, the schedule is deleted too. With --json: the schedule as in `schedules list`.'
  static override examples = [
    '<%= config.bin %> schedules create ada/engine --cron "0 4 * * *"',
    '<%= config.bin %> schedules create ada/engine --cron "*/30 * * * *" --ref stable --owner ada --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' })
  }
  static override flags = { cron: Flags.string({ required: true, description: CRON }), ...scheduleFlags }

  async run() {
    const { args, flags } = await this.parse(SchedulesCreate)
    this.configure(flags)
    const variables = await words.readVariables(flags.variables)
    const made = await withDatabase(async () => {
      const project = await requireNamedProject(args.project)
      const wish = {
        cron: flags.cron,
        ref: flags.ref ?? project.default_branch ?? '',
        description: flags.description ?? '',
        owner: flags.owner ?? null,
        active: flags.active !== false,
        variables
      }
      return createSchedule(project, wish, commandOrigin())
    })
    const view = viewSchedule(made)
    this.log(
      `created schedule ${view.id}: ${view.ref} of ${view.project}, next ${view.next_run_at?.toISOString() ?? 'never'}`
    )
    return view
  }
}

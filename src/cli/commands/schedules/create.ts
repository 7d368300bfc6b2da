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
  static override summary = 'Make a schedule, which runs a pipeline of a branch or tag by the clock'
  static override description =
    'A time that passes while no worker runs is made up for once. The variables are stored encrypted. When the owner may not create pipelines any more, the schedule makes none; when the owner is deleted, it goes. With --json: the schedule in the form of `schedules list`.'
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
      `made schedule ${view.id}: ${view.ref} of ${view.project}, next ${view.next_run_at?.toISOString() ?? 'never'}`
    )
    return view
  }
}

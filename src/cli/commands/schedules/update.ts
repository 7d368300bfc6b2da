import { updateSchedule } from '../../../areas/ci/pipelines/schedules/schedules.js'
import * as queries from '../../../areas/ci/pipelines/schedules/schedules.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumber } from '../../input/record-number.js'
import * as words from '../../input/variables-flag.js'
import { Flags } from '../../oclif.js'
import { CRON, scheduleFlags } from '../../topics/schedule-flags.js'

export default class SchedulesUpdate extends BaseCommand {
  static override summary = 'Change a schedule: its times, ref, variables, or whether it is active'
  static override description =
    'Values without a flag do not change. --variables replaces all variables; {} removes them. With --json: the schedule as in `schedules list`.'
  static override examples = [
    '<%= config.bin %> schedules update 3 --no-active',
    '<%= config.bin %> schedules update 3 --cron "30 5 * * *" --ref stable --json'
  ]
  static override args = { id: recordNumber('number of the schedule') }
  static override flags = { cron: Flags.string({ description: CRON }), ...scheduleFlags }

  async run() {
    const { args, flags } = await this.parse(SchedulesUpdate)
    this.configure(flags)
    const { cron, ref, description, owner, active } = flags
    const named = Object.entries({ cron, ref, description, owner, active }).filter(([, value]) => value !== undefined)
    const variables = await words.readVariables(flags.variables)
    const change = { ...Object.fromEntries(named), ...(variables && { variables }) }
    const changed = await withDatabase(async () =>
      updateSchedule(
        await orNotFound('schedule', args.id, () => queries.requireSchedule(args.id)),
        change,
        commandOrigin()
      )
    )
    const view = queries.viewSchedule(changed)
    this.log(`changed schedule ${view.id}: next ${view.next_run_at?.toISOString() ?? 'never'}`)
    return view
  }
}

import { runScheduleNow } from '../../../areas/ci/pipelines/schedules/run-schedule.js'
import { requireSchedule } from '../../../areas/ci/pipelines/schedules/schedules.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'

export default class SchedulesRun extends BaseCommand {
  static override summary = 'Run a schedule now, without changing its next time'
  static override description = 'With --json: {schedule, pipeline}: the number of the schedule and of the new pipeline.'
  static override strict = false
  static override examples = ['<%= config.bin %> schedules run 3', '<%= config.bin %> schedules run 3 4 --json']
  static override args = { id: recordNumbers('number of the schedule') }

  async run() {
    const { flags, argv } = await this.parse(SchedulesRun)
    this.configure(flags)
    const start = async (id: number) => {
      const schedule = await orNotFound('schedule', id, () => requireSchedule(id))
      const pipeline = await runScheduleNow(schedule, commandOrigin())
      this.log(`schedule ${id} started pipeline ${pipeline}`)
      return { schedule: id, pipeline }
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), start))
  }
}

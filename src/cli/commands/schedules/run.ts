import { BaseCommand } from '../../base.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class SchedulesRun extends BaseCommand {
  static override summary = 'Run a schedule now; its next time stays'
  static override description = 'With --json: {schedule, pipeline}: the number of the schedule and of the new pipeline.'
  static override strict = false
  static override examples = ['<%= config.bin %> schedules run 3', '<%= config.bin %> schedules run 3 4 --json']
  static override args = { id: recordNumbers('number of the schedule') }

  async run() {
    const { flags, argv } = await this.parse(SchedulesRun)
    this.configure(flags)
    const [{ asked }, { doEach }, { withDatabase }, { commandOrigin }, { requireSchedule }, { runScheduleNow }] =
      await Promise.all([
        import('../../asked.js'),
        import('../../each.js'),
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/pipelines/schedules/schedules.queries.js'),
        import('../../../areas/pipelines/schedules/run-schedule.js')
      ])
    const start = async (id: number) => {
      const schedule = await asked('schedule', id, () => requireSchedule(id))
      const pipeline = await runScheduleNow(schedule, commandOrigin())
      this.log(`schedule ${id} made pipeline ${pipeline}`)
      return { schedule: id, pipeline }
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), start))
  }
}

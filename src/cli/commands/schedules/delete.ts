import { deleteSchedule } from '../../../areas/ci/pipelines/schedules/schedules.js'
import * as queries from '../../../areas/ci/pipelines/schedules/schedules.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { destroyEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'

export default class SchedulesDelete extends BaseCommand {
  static override summary = 'Delete a schedule, but keep its pipelines'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the schedule as in `schedules list`.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> schedules delete 3 --dry-run',
    '<%= config.bin %> schedules delete 3 4 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the schedule') }
  static override flags = { ...destroyingFlags }

  async run() {
    const { flags, argv } = await this.parse(SchedulesDelete)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    return withDatabase(() =>
      destroyEach(requireNumbers(argv), {
        how,
        dryRun,
        find: id => orNotFound('schedule', id, () => queries.requireSchedule(id)),
        loss: ({ id, cron, ref, project }) => `to delete schedule ${id} (${cron}, ${ref} of ${project})`,
        destroy: async schedule => {
          if (!dryRun) await deleteSchedule(schedule, commandOrigin())
          this.log(`${dryRun ? 'would delete' : 'deleted'} schedule ${schedule.id}`)
          const view = queries.viewSchedule(schedule)
          return dryRun ? { would_delete: view } : { deleted: view }
        }
      })
    )
  }
}

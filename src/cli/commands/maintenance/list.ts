import { lastRuns } from '../../../areas/upkeep/maintenance/maintenance.queries.js'
import { viewTask } from '../../../areas/upkeep/maintenance/maintenance.view.js'
import { tasks } from '../../../areas/upkeep/maintenance/maintenance-tasks.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { table } from '../../output/table.js'

export default class MaintenanceList extends BaseCommand {
  static override summary = 'List the maintenance tasks, with their schedule and last run'
  static override description =
    'Times are in UTC. The worker runs the tasks on this schedule; you can also run them from cron.'
  static override examples = ['<%= config.bin %> maintenance list', '<%= config.bin %> maintenance list --json']

  async run() {
    const { flags } = await this.parse(MaintenanceList)
    this.configure(flags)
    const last = await withDatabase(lastRuns)
    const now = new Date()
    const shown = tasks.map(task => viewTask(task, last.get(task.name), now))
    this.log(
      table(shown, [
        ['TASK', ({ name }) => name],
        ['SCHEDULE', ({ schedule }) => schedule],
        ['LAST RUN', ({ last_run }) => last_run?.started_at ?? null],
        ['STATE', ({ last_run }) => last_run?.state ?? null],
        ['COUNT', ({ last_run }) => last_run?.count ?? null],
        ['NEXT', ({ next_run_at }) => next_run_at],
        ['ABOUT', ({ about }) => about]
      ])
    )
    return { tasks: shown }
  }
}

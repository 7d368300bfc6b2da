import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class MaintenanceLast extends BaseCommand {
  static override summary = 'Show the last runs of maintenance tasks, newest first'
  static override examples = [
    '<%= config.bin %> maintenance last',
    '<%= config.bin %> maintenance last orphaned_files --limit 1 --json'
  ]
  static override args = { task: Args.string({ description: 'only runs of this task' }) }
  static override flags = {
    limit: Flags.integer({ default: 20, min: 1, max: 1000, description: 'show at most this many runs' })
  }

  async run() {
    const { args, flags } = await this.parse(MaintenanceLast)
    this.configure(flags)
    const [{ withDatabase }, { table }, { taskNamed }, { listRuns }, { viewRun }] = await Promise.all([
      import('../../with-database.js'),
      import('../../table.js'),
      import('../../../areas/maintenance/maintenance.js'),
      import('../../../areas/maintenance/maintenance.queries.js'),
      import('../../../areas/maintenance/maintenance.view.js')
    ])
    const task = args.task === undefined ? undefined : taskNamed(args.task).name
    const runs = (await withDatabase(() => listRuns({ task, limit: flags.limit }))).map(viewRun)
    this.log(
      table(runs, [
        ['RUN', ({ id }) => id],
        ['TASK', run => run.task],
        ['CAUSE', ({ cause }) => cause],
        ['DRY', ({ dry_run }) => dry_run],
        ['STATE', ({ state }) => state],
        ['COUNT', ({ count }) => count],
        ['STARTED', ({ started_at }) => started_at],
        ['FINISHED', ({ finished_at }) => finished_at],
        ['ERROR', ({ error }) => error?.split('\n', 1)[0] ?? null]
      ])
    )
    return { runs }
  }
}

import { taskNamed } from '../../../areas/upkeep/maintenance/maintenance.js'
import type { RunRow as Row } from '../../../areas/upkeep/maintenance/maintenance.queries.js'
import { listRuns, runsBefore } from '../../../areas/upkeep/maintenance/maintenance.queries.js'
import { viewRun } from '../../../areas/upkeep/maintenance/maintenance.view.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'
import { type Column, table } from '../../output/table.js'

const COLUMNS: readonly Column<Row>[] = [
  ['RUN', ({ id }) => id],
  ['TASK', run => run.task],
  ['CAUSE', ({ cause }) => cause],
  ['DRY', ({ dry_run }) => dry_run === 1],
  ['STATE', ({ state }) => state],
  ['COUNT', ({ count }) => count],
  ['STARTED', ({ started_at }) => started_at],
  ['FINISHED', ({ finished_at }) => finished_at],
  ['ERROR', ({ error }) => error?.split('\n', 1)[0] ?? null]
]

export default class MaintenanceLast extends BaseCommand {
  static override summary = 'Show the last runs of maintenance tasks, newest first'
  static override examples = [
    '<%= config.bin %> maintenance last',
    '<%= config.bin %> maintenance last orphaned_files --limit 1 --json'
  ]
  static override args = { task: Args.string({ description: 'only runs of this task' }) }
  static override flags = {
    limit: Flags.integer({ default: 20, min: 1, max: 1000, description: 'show at most this many runs' }),
    ...allFlag()
  }

  async run() {
    const { args, flags } = await this.parse(MaintenanceLast)
    this.configure(flags)
    const task = args.task === undefined ? undefined : taskNamed(args.task).name
    if (flags.all) {
      const { printAll } = await import('../../framework/list-all.js')
      return withDatabase(() =>
        printAll({
          name: 'runs',
          json: this.jsonEnabled(),
          columns: COLUMNS,
          view: () => viewRun,
          part: (last = Number.MAX_SAFE_INTEGER) => runsBefore(task, last),
          idOf: ({ id }) => id
        })
      )
    }
    const runs = await withDatabase(() => listRuns({ task, limit: flags.limit }))
    this.log(table(runs, COLUMNS))
    return { runs: runs.map(viewRun) }
  }
}

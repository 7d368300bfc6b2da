import type { RunnerRecord } from '../../../areas/ci/runners/runner-records.queries.js'
import { requireRunnerById } from '../../../areas/ci/runners/runner-records.queries.js'
import { removeRunner } from '../../../areas/ci/runners/runners.js'
import { viewRunnerSummary } from '../../../areas/ci/runners/runners.view.js'
import { DestroyingCommand, type RecordDestruction } from '../../framework/destroying-command.js'
import { recordNumbers } from '../../input/record-number.js'

export default class RunnersRemove extends DestroyingCommand<RunnerRecord> {
  static override summary = 'Remove a runner; its token stops working'
  static override description =
    'Its running builds can finish. The built-in runner cannot be removed: pause it instead. With --json: {removed}, or with --dry-run {would_remove}: the summary of the runner.'
  static override examples = [
    '<%= config.bin %> runners remove 3 --dry-run',
    '<%= config.bin %> runners remove 3 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the runner') }

  protected override readonly destruction: RecordDestruction<RunnerRecord> = {
    kind: 'runner',
    verb: 'remove',
    find: requireRunnerById,
    nameOf: ({ id, description }) => `runner ${id} (${description})`,
    destroy: async (runner, origin) => {
      await removeRunner(runner, origin)
      return runner
    },
    view: viewRunnerSummary
  }
}

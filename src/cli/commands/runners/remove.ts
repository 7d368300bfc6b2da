import type { RunnerRecord } from '../../../areas/runners/runner-records.queries.js'
import { DestroyingCommand, type RecordDestruction } from '../../destroying-command.js'
import { recordNumbers } from '../../record-number.js'

export default class RunnersRemove extends DestroyingCommand<RunnerRecord> {
  static override summary = 'Remove a runner: its token stops working'
  static override description =
    'Builds that it runs can end. The built-in runner stays: pause it instead. With --json: {removed}, or with --dry-run {would_remove}: the summary of the runner.'
  static override examples = [
    '<%= config.bin %> runners remove 3 --dry-run',
    '<%= config.bin %> runners remove 3 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the runner') }

  protected async destruction(): Promise<RecordDestruction<RunnerRecord>> {
    const [{ requireRunnerById }, { removeRunner }, { viewRunnerSummary }] = await Promise.all([
      import('../../../areas/runners/runner-records.queries.js'),
      import('../../../areas/runners/runners.js'),
      import('../../../areas/runners/runners.view.js')
    ])
    return {
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
}

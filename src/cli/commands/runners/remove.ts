import { BaseCommand } from '../../base.js'
import { destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class RunnersRemove extends BaseCommand {
  static override summary = 'Remove a runner: its token stops working'
  static override description =
    'Builds that it runs can end. The built-in runner stays: pause it instead. With --json: {removed}, or with --dry-run {would_remove}: the summary of the runner.'
  static override examples = [
    '<%= config.bin %> runners remove 3 --dry-run',
    '<%= config.bin %> runners remove 3 --yes --json'
  ]
  static override strict = false
  static override args = { id: recordNumbers('number of the runner') }
  static override flags = { ...destroyingFlags }

  async run() {
    const { flags, argv } = await this.parse(RunnersRemove)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    const [
      { asked },
      { destroyEach },
      { withDatabase },
      { commandOrigin },
      { requireRunnerById },
      { removeRunner },
      { viewRunnerSummary }
    ] = await Promise.all([
      import('../../asked.js'),
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/runners/runner-records.queries.js'),
      import('../../../areas/runners/runners.js'),
      import('../../../areas/runners/runners.view.js')
    ])
    return withDatabase(() =>
      destroyEach(requireNumbers(argv), {
        how,
        dryRun,
        find: id => asked('runner', id, () => requireRunnerById(id)),
        loss: ({ id, description }) => `to remove runner ${id} (${description})`,
        destroy: async runner => {
          if (!dryRun) await removeRunner(runner, commandOrigin())
          this.log(`${dryRun ? 'would remove' : 'removed'} runner ${runner.id}`)
          const summary = viewRunnerSummary(runner)
          return dryRun ? { would_remove: summary } : { removed: summary }
        }
      })
    )
  }
}

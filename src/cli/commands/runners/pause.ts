import { requireRunnerById } from '../../../areas/ci/runners/runner-records.queries.js'
import { changeRunner } from '../../../areas/ci/runners/runners.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'

export default class RunnersPause extends BaseCommand {
  static override summary = 'Pause runners: they take no new builds, but running builds continue'
  static override description =
    'With --json: {paused, changed}: the number of the runner, and whether its state changed.'
  static override examples = ['<%= config.bin %> runners pause 3', '<%= config.bin %> runners pause 3 4 --json']
  static override strict = false
  static override args = { id: recordNumbers('number of the runner') }

  async run() {
    const { flags, argv } = await this.parse(RunnersPause)
    this.configure(flags)
    const pause = async (id: number) => {
      const runner = await orNotFound('runner', id, () => requireRunnerById(id))
      const changed = await changeRunner(runner, { active: false }, commandOrigin())
      this.log(`paused runner ${id}`)
      return { paused: id, changed }
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), pause))
  }
}

import { requireRunnerById } from '../../../areas/ci/runners/runner-records.queries.js'
import { changeRunner } from '../../../areas/ci/runners/runners.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'

export default class RunnersResume extends BaseCommand {
  static override summary = 'Resume paused runners: they take builds again'
  static override description =
    'With --json: {resumed, changed}: the number of the runner, and whether its state changed.'
  static override examples = ['<%= config.bin %> runners resume 3', '<%= config.bin %> runners resume 3 4 --json']
  static override strict = false
  static override args = { id: recordNumbers('number of the runner') }

  async run() {
    const { flags, argv } = await this.parse(RunnersResume)
    this.configure(flags)
    const resume = async (id: number) => {
      const runner = await orNotFound('runner', id, () => requireRunnerById(id))
      const changed = await changeRunner(runner, { active: true }, commandOrigin())
      this.log(`resumed runner ${id}`)
      return { resumed: id, changed }
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), resume))
  }
}

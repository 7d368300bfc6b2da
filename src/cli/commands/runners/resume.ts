import { BaseCommand } from '../../base.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class RunnersResume extends BaseCommand {
  static override summary = 'Let paused runners take builds again'
  static override description =
    'With --json: {resumed, changed}: the number of the runner, and whether it was otherwise before.'
  static override examples = ['<%= config.bin %> runners resume 3', '<%= config.bin %> runners resume 3 4 --json']
  static override strict = false
  static override args = { id: recordNumbers('number of the runner') }

  async run() {
    const { flags, argv } = await this.parse(RunnersResume)
    this.configure(flags)
    const [{ asked }, { doEach }, { withDatabase }, { commandOrigin }, { requireRunnerById }, { changeRunner }] =
      await Promise.all([
        import('../../asked.js'),
        import('../../each.js'),
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/runners/runner-records.queries.js'),
        import('../../../areas/runners/runners.js')
      ])
    const resume = async (id: number) => {
      const runner = await asked('runner', id, () => requireRunnerById(id))
      const changed = await changeRunner(runner, { active: true }, commandOrigin())
      this.log(`resumed runner ${id}`)
      return { resumed: id, changed }
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), resume))
  }
}

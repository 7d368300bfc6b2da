import { BaseCommand } from '../../framework/base.js'
import { Args } from '../../oclif.js'
import { changeStates } from '../../topics/issue-states.js'

export default class IssuesReopen extends BaseCommand {
  static override summary = 'Open closed issues of a project again'
  static override description =
    'The number is the one in the project. Exit code 3 when an issue does not exist; the others are reopened. With --json: {reopened, unchanged, failed}: the numbers of the issues; each failure is {argument, error}.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> issues reopen ada/engine 12',
    '<%= config.bin %> issues reopen ada/engine 12 13 --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' }),
    number: Args.string({ required: true, description: 'number of an issue in the project; you can give several' })
  }

  async run() {
    const { flags, argv } = await this.parse(IssuesReopen)
    this.configure(flags)
    const { done, unchanged, failed } = await changeStates(argv.map(String), 'reopen', this.jsonEnabled())
    if (done.length > 0) this.log(`reopened ${done.join(' ')}`)
    if (unchanged.length > 0) this.log(`open before: ${unchanged.join(' ')}`)
    return { reopened: done, unchanged, failed }
  }
}

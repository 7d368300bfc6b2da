import { BaseCommand } from '../../framework/base.js'
import { Args } from '../../oclif.js'
import { changeStates } from '../../topics/issue-states.js'

export default class IssuesReopen extends BaseCommand {
  static override summary = 'Reopen closed issues of a project'
  static override description =
    'NUMBER is the number of the issue within the project. The exit code is 3 if an issue does not exist; the others are reopened. With --json: {reopened, unchanged, failed}: the numbers of the issues; each failure is {argument, error}.'
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
    if (unchanged.length > 0) this.log(`already open: ${unchanged.join(' ')}`)
    return { reopened: done, unchanged, failed }
  }
}

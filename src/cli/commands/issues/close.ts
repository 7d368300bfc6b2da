import { BaseCommand } from '../../framework/base.js'
import { Args } from '../../oclif.js'
import { changeStates } from '../../topics/issue-states.js'

export default class IssuesClose extends BaseCommand {
  static override summary = 'Close issues of a project'
  static override description =
    'NUMBER is the number of the issue within the project. The exit code is 3 if an issue does not exist; the others are closed. With --json: {closed, unchanged, failed}: the numbers of the issues; each failure is {argument, error}.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> issues close ada/engine 12',
    '<%= config.bin %> issues close ada/engine 12 13 --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' }),
    number: Args.string({ required: true, description: 'number of an issue in the project; you can give several' })
  }

  async run() {
    const { flags, argv } = await this.parse(IssuesClose)
    this.configure(flags)
    const { done, unchanged, failed } = await changeStates(argv.map(String), 'close', this.jsonEnabled())
    if (done.length > 0) this.log(`closed ${done.join(' ')}`)
    if (unchanged.length > 0) this.log(`already closed: ${unchanged.join(' ')}`)
    return { closed: done, unchanged, failed }
  }
}

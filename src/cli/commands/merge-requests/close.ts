import { BaseCommand } from '../../framework/base.js'
import { Args } from '../../oclif.js'
import { changeMergeRequestStates } from '../../topics/merge-request-states.js'

export default class MergeRequestsClose extends BaseCommand {
  static override summary = 'Close merge requests of a project'
  static override description =
    'NUMBER is the number of the merge request within the project. The exit code is 3 if a merge request does not exist; the others are closed. With --json: {closed, unchanged, failed}: the numbers of the merge requests; each failure is {argument, error}.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> merge-requests close ada/engine 12',
    '<%= config.bin %> merge-requests close ada/engine 12 13 --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' }),
    number: Args.string({
      required: true,
      description: 'number of a merge request in the project; you can give several'
    })
  }

  async run() {
    const { flags, argv } = await this.parse(MergeRequestsClose)
    this.configure(flags)
    const { done, unchanged, failed } = await changeMergeRequestStates(argv.map(String), 'close', this.jsonEnabled())
    if (done.length > 0) this.log(`closed ${done.join(' ')}`)
    if (unchanged.length > 0) this.log(`already closed: ${unchanged.join(' ')}`)
    return { closed: done, unchanged, failed }
  }
}

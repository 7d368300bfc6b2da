import { BaseCommand } from '../../framework/base.js'
import { Args } from '../../oclif.js'
import { changeStates } from '../../topics/milestone-states.js'

export default class MilestonesActivate extends BaseCommand {
  static override summary = 'Reactivate closed milestones of a project'
  static override description =
    'The exit code is 3 if a milestone does not exist; the others are activated. With --json: {activated, unchanged, failed}: the titles; each failure is {argument, error}.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> milestones activate ada/engine v1.0',
    '<%= config.bin %> milestones activate ada/engine v1.0 v1.1 --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' }),
    title: Args.string({ required: true, description: 'the title of a milestone; you can give several' })
  }

  async run() {
    const { flags, argv } = await this.parse(MilestonesActivate)
    this.configure(flags)
    const { done, unchanged, failed } = await changeStates(argv.map(String), 'activate', this.jsonEnabled())
    for (const title of done) this.log(`activated milestone ${title}`)
    for (const title of unchanged) this.log(`already active: milestone ${title}`)
    return { activated: done, unchanged, failed }
  }
}

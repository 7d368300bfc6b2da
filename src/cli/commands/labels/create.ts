import { administerLabel } from '../../../areas/planning/labels/administer.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'
import { labelOwnerFlags, requireLabelOwner } from '../../topics/label-owner.js'

export default class LabelsCreate extends BaseCommand {
  static override summary = 'Create a label of a project or group'
  static override description = 'The labels of a group apply to all its projects. With --json: {id, title}.'
  static override examples = [
    "<%= config.bin %> labels create bug --project ada/engine --color '#d9534f'",
    "<%= config.bin %> labels create urgent --group team --description 'before all else' --json"
  ]
  static override args = {
    title: Args.string({ required: true, description: 'the title: at most 255 characters, without commas' })
  }
  static override flags = {
    ...labelOwnerFlags,
    color: Flags.string({ default: '#428BCA', description: 'the color: # with three or six hex digits' }),
    description: Flags.string({ description: 'what the label is for' }),
    priority: Flags.integer({
      min: 0,
      description: 'its position among the labels of the project',
      exclusive: ['group']
    })
  }

  async run() {
    const { args, flags } = await this.parse(LabelsCreate)
    this.configure(flags)
    const { color, description, priority } = flags
    return withDatabase(async () => {
      const owner = await requireLabelOwner(flags)
      const id = await administerLabel(owner, { name: args.title, color, description, priority }, commandOrigin())
      this.log(`created label ${args.title} of ${owner.path} (id ${id})`)
      return { id, title: args.title }
    })
  }
}

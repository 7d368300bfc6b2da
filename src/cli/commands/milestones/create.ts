import { administerMilestone } from '../../../areas/planning/milestones/administer.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'
import { requireNamedPlace } from '../../topics/milestone-states.js'

export default class MilestonesCreate extends BaseCommand {
  static override summary = 'Create a milestone of a project'
  static override description = 'With --json: {id, number, title}.'
  static override examples = [
    '<%= config.bin %> milestones create ada/engine v1.0 --due 2027-03-01',
    "<%= config.bin %> milestones create ada/engine v1.1 --start 2027-03-01 --due 2027-06-01 --description 'faster' --json"
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' }),
    title: Args.string({ required: true, description: 'the title' })
  }
  static override flags = {
    description: Flags.string({ description: 'what the milestone is about' }),
    start: Flags.string({ description: 'the start date: YYYY-MM-DD' }),
    due: Flags.string({ description: 'the due date: YYYY-MM-DD' })
  }

  async run() {
    const { args, flags } = await this.parse(MilestonesCreate)
    this.configure(flags)
    const { description, start: start_date, due: due_date } = flags
    return withDatabase(async () => {
      const body = { title: args.title, description, start_date, due_date }
      const { id, iid, title } = await administerMilestone(await requireNamedPlace(args.project), body, commandOrigin())
      this.log(`created milestone ${title} of ${args.project} (number ${iid})`)
      return { id, number: iid, title }
    })
  }
}

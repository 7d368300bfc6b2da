import { viewMilestoneLine } from '../../../areas/planning/milestones/milestones.line.js'
import { listAllMilestones } from '../../../areas/planning/milestones/milestones.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Args, Flags } from '../../oclif.js'
import { table } from '../../output/table.js'

export default class MilestonesList extends BaseCommand {
  static override summary = 'List the milestones of a project'
  static override description =
    'With --json: {milestones}, each with id, number, title, state, start_date, due_date, open_issues, closed_issues, created_at and updated_at.'
  static override examples = [
    '<%= config.bin %> milestones list ada/engine',
    '<%= config.bin %> milestones list ada/engine --state active --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' })
  }
  static override flags = {
    state: Flags.option({ options: ['active', 'closed'] as const, description: 'only milestones in this state' })()
  }

  async run() {
    const { args, flags } = await this.parse(MilestonesList)
    this.configure(flags)
    const milestones = await withDatabase(async () =>
      listAllMilestones((await requireNamedProject(args.project)).id, flags.state)
    )
    this.log(
      table(milestones, [
        ['NUMBER', milestone => milestone.iid],
        ['TITLE', milestone => milestone.title],
        ['STATE', milestone => milestone.state],
        ['START', milestone => milestone.start_date],
        ['DUE', milestone => milestone.due_date],
        ['OPEN', milestone => milestone.open_issues],
        ['CLOSED', milestone => milestone.closed_issues]
      ])
    )
    return { milestones: milestones.map(viewMilestoneLine) }
  }
}

import { BaseCommand } from '../../base.js'
import { Args } from '../../oclif.js'
import { requireNumbers } from '../../record-number.js'

export default class IssuesShow extends BaseCommand {
  static override summary = 'Show issues of a project'
  static override description =
    'The number is the one in the project. With --json: the record, with id, project_id, project, number, title, description, state, confidential, author, assignee, milestone, labels, due_date, time_estimate, total_time_spent, created_at and updated_at.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> issues show ada/engine 12',
    '<%= config.bin %> issues show ada/engine 12 13 --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' }),
    number: Args.string({ required: true, description: 'number of an issue in the project; you can give several' })
  }

  async run() {
    const { flags, argv } = await this.parse(IssuesShow)
    this.configure(flags)
    const [of = '', ...numbers] = argv.map(String)
    const [{ doEach }, { withDatabase }, { requireNamedProject }, queries, { fields }] = await Promise.all([
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../named-project.js'),
      import('../../../areas/issues/described-issues.queries.js'),
      import('../../table.js')
    ])
    return withDatabase(async () => {
      const project = await requireNamedProject(of)
      return doEach(requireNumbers(numbers), this.jsonEnabled(), async number => {
        const view = queries.viewDescribedIssue(await queries.requireDescribedIssue(project.id, number))
        const { description, ...rest } = view
        this.log(fields({ ...rest, labels: view.labels.join(', ') }))
        if (description !== null) this.log(`\n${description}`)
        return view
      })
    })
  }
}

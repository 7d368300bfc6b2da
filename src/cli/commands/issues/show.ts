import { nobody } from '../../../access/actor.js'
import { readIssue } from '../../../areas/planning/issues/issue-readings.js'
import { viewIssueLine } from '../../../areas/planning/issues/issues.line.js'
import { requireIssueByNumber } from '../../../areas/planning/issues/issues.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { requireNumbers } from '../../input/record-number.js'
import { Args } from '../../oclif.js'
import { fields } from '../../output/table.js'

export default class IssuesShow extends BaseCommand {
  static override summary = 'Show issues of a project'
  static override description =
    'NUMBER is the number of the issue within the project. With --json: the record, with id, project_id, project, number, title, description, state, confidential, author, assignee, milestone, labels, due_date, time_estimate, total_time_spent, created_at and updated_at.'
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
    return withDatabase(async () => {
      const project = await requireNamedProject(of)
      return doEach(requireNumbers(numbers), this.jsonEnabled(), async number => {
        const issue = await requireIssueByNumber(project.id, number)
        const { description } = issue
        const line = viewIssueLine(await readIssue(issue, nobody))
        this.log(fields({ ...line, labels: line.labels.join(', ') }))
        if (description !== null) this.log(`\n${description}`)
        return { ...line, description }
      })
    })
  }
}

import * as queries from '../../../areas/planning/issues/all-issues.queries.js'
import type { IssueReading as Row } from '../../../areas/planning/issues/issue-readings.js'
import { projectOf, viewIssueLine } from '../../../areas/planning/issues/issues.line.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

const COLUMNS: readonly Column<Row>[] = [
  ['PROJECT', ({ issue }) => projectOf(issue)],
  ['NUMBER', ({ issue }) => issue.iid],
  ['STATE', ({ issue }) => issue.state],
  ['TITLE', ({ issue }) => issue.title],
  ['AUTHOR', ({ issue }) => issue.author_username],
  ['ASSIGNEE', ({ issue }) => issue.assignee_username],
  ['LABELS', ({ labels }) => labels.join(',') || null],
  ['MILESTONE', ({ milestone }) => milestone?.title ?? null],
  ['UPDATED', ({ issue }) => issue.updated_at]
]

export default class IssuesList extends BaseCommand {
  static override summary = 'List issues, newest first'
  static override description =
    'Lists open issues by default, and only issues that match all given filters. Includes confidential issues. With --json: {issues, total}, each as in `issues show` without the description; total also counts the issues beyond --limit. With --all --json, each issue is one line.'
  static override examples = [
    '<%= config.bin %> issues list --project ada/engine --label bug',
    '<%= config.bin %> issues list --state all --limit 10 --json',
    '<%= config.bin %> issues list --project ada/engine --milestone v1.0 --all'
  ]
  static override flags = {
    ...allFlag(),
    project: Flags.string({ description: 'only issues of this project: NAMESPACE/PROJECT or number' }),
    state: Flags.option({
      options: ['opened', 'closed', 'all'] as const,
      default: 'opened' as const,
      description: 'only issues in this state'
    })(),
    label: Flags.string({ multiple: true, description: 'only issues with this label; you can give several' }),
    milestone: Flags.string({ description: 'only issues of the milestone with this title' }),
    limit: Flags.integer({ default: 50, min: 1, max: 10_000, description: 'show at most this many issues' })
  }

  async run() {
    const { flags } = await this.parse(IssuesList)
    this.configure(flags)
    const { state, label: labels, milestone } = flags
    const filter = async () => ({
      projectId: flags.project === undefined ? undefined : (await requireNamedProject(flags.project)).id,
      state,
      labels,
      milestone
    })
    return withDatabase(async () => {
      const wanted = await filter()
      return printList({
        name: 'issues',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: () => viewIssueLine,
        first: () => queries.listAllIssues(wanted, flags.limit),
        part: last => queries.issuesBefore(wanted, last),
        idOf: ({ issue }) => issue.id
      })
    })
  }
}

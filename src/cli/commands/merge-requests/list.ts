import { viewMergeRequestLine } from '../../../areas/planning/merge-requests/merge-requests.line.js'
import type { MergeRequestRow as Row } from '../../../areas/planning/merge-requests/merge-requests.queries.js'
import * as queries from '../../../areas/planning/merge-requests/merge-requests.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

const COLUMNS: readonly Column<Row>[] = [
  ['PROJECT', found => `${found.namespace_path}/${found.project_path}`],
  ['NUMBER', found => found.iid],
  ['STATE', found => found.state],
  ['TITLE', found => found.title],
  ['FROM', found => found.source_branch],
  ['INTO', found => found.target_branch],
  ['MERGES', found => found.merge_status],
  ['AUTHOR', found => found.author_username],
  ['UPDATED', found => found.updated_at]
]

export default class MergeRequestsList extends BaseCommand {
  static override summary = 'List merge requests, newest first'
  static override description =
    'Lists open merge requests by default. With --json: {merge_requests, total}, each as in `merge-requests show` without the description; total also counts the merge requests beyond --limit. With --all --json, each merge request is one line.'
  static override examples = [
    '<%= config.bin %> merge-requests list --project ada/engine',
    '<%= config.bin %> merge-requests list --state merged --limit 10 --json'
  ]
  static override flags = {
    ...allFlag(),
    project: Flags.string({ description: 'only merge requests into this project: NAMESPACE/PROJECT or number' }),
    state: Flags.option({
      options: ['opened', 'closed', 'merged', 'all'] as const,
      default: 'opened' as const,
      description: 'only merge requests in this state'
    })(),
    limit: Flags.integer({ default: 50, min: 1, max: 10_000, description: 'show at most this many merge requests' })
  }

  async run() {
    const { flags } = await this.parse(MergeRequestsList)
    this.configure(flags)
    const { state } = flags
    const filter = async () => ({
      projectId: flags.project === undefined ? undefined : (await requireNamedProject(flags.project)).id,
      state
    })
    return withDatabase(async () => {
      const wanted = await filter()
      return printList({
        name: 'merge_requests',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: () => viewMergeRequestLine,
        first: () => queries.listAllMergeRequests(wanted, flags.limit),
        part: last => queries.mergeRequestsBefore(wanted, last),
        idOf: ({ id }) => id
      })
    })
  }
}

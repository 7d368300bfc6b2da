import { BaseCommand } from '../../base.js'
import { allFlag } from '../../list-all.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../table.js'

type Row = import('../../../areas/merge-requests/described-merge-requests.queries.js').DescribedMergeRequest

const COLUMNS: readonly Column<Row>[] = [
  ['PROJECT', found => found.project],
  ['NUMBER', found => found.number],
  ['STATE', found => found.state],
  ['TITLE', found => found.title],
  ['FROM', found => found.source_branch],
  ['INTO', found => found.target_branch],
  ['MERGES', found => found.merge_status],
  ['AUTHOR', found => found.author],
  ['UPDATED', found => found.updated_at]
]

export default class MergeRequestsList extends BaseCommand {
  static override summary = 'List merge requests, newest first'
  static override description =
    'Open ones, without --state. With --json: {merge_requests, total}, each in the form of `merge-requests show` without the description; total also counts those beyond --limit. With --all --json, each merge request is a line of its own.'
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
    const [{ withDatabase }, { requireNamedProject }, queries] = await Promise.all([
      import('../../with-database.js'),
      import('../../named-project.js'),
      import('../../../areas/merge-requests/described-merge-requests.queries.js')
    ])
    const { state } = flags
    const filter = async () => ({
      projectId: flags.project === undefined ? undefined : (await requireNamedProject(flags.project)).id,
      state
    })
    const { printList } = await import('../../list-all.js')
    return withDatabase(async () => {
      const wanted = await filter()
      return printList({
        name: 'merge_requests',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: () => queries.viewDescribedMergeRequest,
        first: () => queries.listDescribedMergeRequests(wanted, flags.limit),
        part: last => queries.describedMergeRequestsBefore(wanted, last),
        idOf: ({ id }) => id
      })
    })
  }
}

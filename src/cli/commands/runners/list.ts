import type { RunnerRecord as Row } from '../../../areas/ci/runners/runner-records.queries.js'
import { listRunners, runnersAfter } from '../../../areas/ci/runners/runner-records.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

const tagsOf = (runner: Row) => JSON.parse(runner.tag_list) as string[]
const kindOf = (runner: Row) => (runner.built_in ? 'built-in' : runner.is_shared ? 'shared' : 'specific')

const COLUMNS: readonly Column<Row>[] = [
  ['ID', runner => runner.id],
  ['DESCRIPTION', runner => runner.description],
  ['KIND', kindOf],
  ['STATE', runner => (runner.active ? 'active' : 'paused')],
  ['TAGS', runner => tagsOf(runner).join(', ')],
  ['VERSION', runner => runner.version],
  ['LAST CONTACT', runner => runner.contacted_at]
]

const recordOf = (runner: Row) => ({
  id: runner.id,
  description: runner.description,
  kind: kindOf(runner),
  active: runner.active === 1,
  run_untagged: runner.run_untagged === 1,
  locked: runner.locked === 1,
  tag_list: tagsOf(runner),
  name: runner.name,
  version: runner.version,
  contacted_at: runner.contacted_at
})

export default class RunnersList extends BaseCommand {
  static override summary = 'List runners, oldest first'
  static override description =
    'With --json: {runners, total}, each with id, description, kind (built-in, shared or specific), active, run_untagged, locked, tag_list, name, version and contacted_at; total also counts the runners beyond --limit.'
  static override examples = ['<%= config.bin %> runners list', '<%= config.bin %> runners list --scope paused --json']
  static override flags = {
    scope: Flags.option({
      options: ['specific', 'shared', 'active', 'paused', 'online'] as const,
      description: 'only these runners; online means contact within the last hour'
    })(),
    limit: Flags.integer({ default: 100, min: 1, max: 100, description: 'show at most this many runners' }),
    ...allFlag(['limit', 'scope'])
  }

  async run() {
    const { flags } = await this.parse(RunnersList)
    this.configure(flags)
    return withDatabase(() =>
      printList({
        name: 'runners',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: () => recordOf,
        first: () => listRunners('all', { scope: flags.scope, per_page: flags.limit }),
        part: (last = 0) => runnersAfter(last, 500),
        idOf: ({ id }) => id
      })
    )
  }
}

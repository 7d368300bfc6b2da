import { viewBuildLine } from '../../../areas/ci/builds/builds.line.js'
import type { NamedBuildRow as Row } from '../../../areas/ci/builds/builds.queries.js'
import * as queries from '../../../areas/ci/builds/builds.queries.js'
import { BUILD_STATUSES } from '../../../ci/status.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { recordNumberFlag } from '../../input/record-number.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

const COLUMNS: readonly Column<Row>[] = [
  ['ID', build => build.id],
  ['PROJECT', build => build.project],
  ['PIPELINE', build => build.pipeline_id],
  ['STAGE', build => build.stage],
  ['NAME', build => build.name],
  ['REF', build => build.ref],
  ['STATUS', build => build.status],
  ['RUNNER', build => build.runner_description],
  ['STARTED', build => build.started_at],
  ['FINISHED', build => build.finished_at]
]

export default class BuildsList extends BaseCommand {
  static override summary = 'List builds, newest first'
  static override description =
    'Lists the builds that match all given filters. With --json: {builds, total}, each as in `builds show`, but without trace_size; total also counts the builds beyond --limit. With --all --json, each build is one line.'
  static override examples = [
    '<%= config.bin %> builds list --status running --status pending',
    '<%= config.bin %> builds list --project ada/engine --ref master --limit 10 --json',
    '<%= config.bin %> builds list --pipeline 1205'
  ]
  static override flags = {
    ...allFlag(),
    project: Flags.string({ description: 'only builds of this project: NAMESPACE/PROJECT or number' }),
    pipeline: recordNumberFlag('only builds of the pipeline with this number'),
    status: Flags.option({
      options: BUILD_STATUSES,
      multiple: true,
      description: 'only builds with this status; you can give several'
    })(),
    ref: Flags.string({ description: 'only builds of this branch or tag' }),
    limit: Flags.integer({ default: 50, min: 1, max: 10_000, description: 'show at most this many builds' })
  }

  async run() {
    const { flags } = await this.parse(BuildsList)
    this.configure(flags)
    const filter = async () => ({
      projectId: flags.project === undefined ? undefined : (await requireNamedProject(flags.project)).id,
      pipelineId: flags.pipeline,
      statuses: flags.status,
      ref: flags.ref
    })
    return withDatabase(async () => {
      const wanted = await filter()
      return printList({
        name: 'builds',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: () => viewBuildLine,
        first: () => queries.listAllBuilds(wanted, flags.limit),
        part: last => queries.buildsBefore(wanted, last),
        idOf: ({ id }) => id
      })
    })
  }
}

import { viewPipelineLine } from '../../../areas/ci/pipelines/pipelines.line.js'
import type { PipelineRow as Row } from '../../../areas/ci/pipelines/pipelines.queries.js'
import * as queries from '../../../areas/ci/pipelines/pipelines.queries.js'
import { BUILD_STATUSES } from '../../../ci/status.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

const COLUMNS: readonly Column<Row>[] = [
  ['ID', pipeline => pipeline.id],
  ['PROJECT', pipeline => pipeline.project],
  ['REF', pipeline => pipeline.ref],
  ['COMMIT', pipeline => pipeline.sha.slice(0, 8)],
  ['STATUS', pipeline => pipeline.status],
  ['SOURCE', pipeline => pipeline.source],
  ['USER', pipeline => pipeline.user_username],
  ['CREATED', pipeline => pipeline.created_at],
  ['FINISHED', pipeline => pipeline.finished_at]
]

export default class PipelinesList extends BaseCommand {
  static override summary = 'List pipelines, newest first'
  static override description =
    'Lists the pipelines that match all given filters. With --json: {pipelines, total}, each with id, project_id, project, ref, tag, sha, status, source, user, yaml_errors, duration, created_at, started_at and finished_at; total also counts the pipelines beyond --limit. With --all --json, each pipeline is one line.'
  static override examples = [
    '<%= config.bin %> pipelines list --project ada/engine',
    '<%= config.bin %> pipelines list --status failed --limit 10 --json'
  ]
  static override flags = {
    ...allFlag(),
    project: Flags.string({ description: 'only pipelines of this project: NAMESPACE/PROJECT or number' }),
    status: Flags.option({
      options: BUILD_STATUSES,
      multiple: true,
      description: 'only pipelines with this status; you can give several'
    })(),
    ref: Flags.string({ description: 'only pipelines of this branch or tag' }),
    limit: Flags.integer({ default: 50, min: 1, max: 10_000, description: 'show at most this many pipelines' })
  }

  async run() {
    const { flags } = await this.parse(PipelinesList)
    this.configure(flags)
    const filter = async () => ({
      projectId: flags.project === undefined ? undefined : (await requireNamedProject(flags.project)).id,
      statuses: flags.status,
      ref: flags.ref
    })
    return withDatabase(async () => {
      const wanted = await filter()
      return printList({
        name: 'pipelines',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: () => viewPipelineLine,
        first: () => queries.listAllPipelines(wanted, flags.limit),
        part: last => queries.pipelinesBefore(wanted, last),
        idOf: ({ id }) => id
      })
    })
  }
}

import { viewBuildLine } from '../../../areas/ci/builds/builds.line.js'
import { buildsOfPipeline } from '../../../areas/ci/builds/builds.queries.js'
import { viewPipelineLine } from '../../../areas/ci/pipelines/pipelines.line.js'
import { requireAnyPipeline } from '../../../areas/ci/pipelines/pipelines.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'
import { fields, table } from '../../output/table.js'

export default class PipelinesShow extends BaseCommand {
  static override summary = 'Show a pipeline with its builds, stage by stage'
  static override description =
    'Includes builds that were retried. With --json: the pipeline as in `pipelines list`, with builds as in `builds list`.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> pipelines show 1205',
    '<%= config.bin %> pipelines show 1205 1206 --json'
  ]
  static override args = { pipeline: recordNumbers('number of a pipeline') }

  async run() {
    const { flags, argv } = await this.parse(PipelinesShow)
    this.configure(flags)
    const show = async (id: number) => {
      const pipeline = await orNotFound('pipeline', id, () => requireAnyPipeline(id))
      const found = await buildsOfPipeline(id)
      const { yaml_errors: errors, ...view } = viewPipelineLine(pipeline)
      this.log(fields(view))
      for (const error of errors?.split('\n') ?? []) this.log(fields({ error }))
      this.log('')
      this.log(
        table(found, [
          ['STAGE', build => build.stage],
          ['ID', build => build.id],
          ['NAME', build => build.name],
          ['STATUS', build => build.status],
          ['REASON', build => build.failure_reason],
          ['WHEN', build => build.start_when],
          ['RUNNER', build => build.runner_description],
          ['STARTED', build => build.started_at],
          ['FINISHED', build => build.finished_at]
        ])
      )
      return { ...view, yaml_errors: errors, builds: found.map(viewBuildLine) }
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), show))
  }
}

import { retryPipeline } from '../../../areas/ci/builds/pipeline-actions.js'
import { viewPipelineLine } from '../../../areas/ci/pipelines/pipelines.line.js'
import { requireAnyPipeline } from '../../../areas/ci/pipelines/pipelines.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { sortOut } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'

export default class PipelinesRetry extends BaseCommand {
  static override summary = 'Retry the failed and canceled builds of pipelines'
  static override description =
    'Starts with the first stage that has such a build; builds of later stages wait for their stage again. Pipelines without such a build do not change. With --json: {retried, failed}: the pipelines as in `pipelines list`; each failure is {argument, error}.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> pipelines retry 1205',
    '<%= config.bin %> pipelines retry 1205 1206 --json'
  ]
  static override args = { pipeline: recordNumbers('number of a pipeline') }

  async run() {
    const { flags, argv } = await this.parse(PipelinesRetry)
    this.configure(flags)
    const retry = async (id: number) => {
      await orNotFound('pipeline', id, () => retryPipeline({ id }, commandOrigin()))
      const pipeline = await orNotFound('pipeline', id, () => requireAnyPipeline(id))
      this.log(`pipeline ${id} is ${pipeline.status}`)
      return viewPipelineLine(pipeline)
    }
    const { done, failed } = await withDatabase(() => sortOut(requireNumbers(argv), this.jsonEnabled(), retry))
    return { retried: done.map(({ result }) => result), failed }
  }
}

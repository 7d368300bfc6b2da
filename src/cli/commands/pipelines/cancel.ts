import { cancelPipeline } from '../../../areas/ci/builds/pipeline-actions.js'
import { viewPipelineLine } from '../../../areas/ci/pipelines/pipelines.line.js'
import { requireAnyPipeline } from '../../../areas/ci/pipelines/pipelines.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { sortOut } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'

export default class PipelinesCancel extends BaseCommand {
  static override summary = 'Cancel the running and waiting builds of pipelines'
  static override description =
    'The built-in runner ends a running build at once, with all its processes. Finished pipelines do not change. With --json: {canceled, failed}: the pipelines as in `pipelines list`; each failure is {argument, error}.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> pipelines cancel 1205',
    '<%= config.bin %> pipelines cancel 1205 1206 --json'
  ]
  static override args = { pipeline: recordNumbers('number of a pipeline') }

  async run() {
    const { flags, argv } = await this.parse(PipelinesCancel)
    this.configure(flags)
    const cancel = async (id: number) => {
      await orNotFound('pipeline', id, () => cancelPipeline({ id }, commandOrigin()))
      const pipeline = await orNotFound('pipeline', id, () => requireAnyPipeline(id))
      this.log(`pipeline ${id} is ${pipeline.status}`)
      return viewPipelineLine(pipeline)
    }
    const { done, failed } = await withDatabase(() => sortOut(requireNumbers(argv), this.jsonEnabled(), cancel))
    return { canceled: done.map(({ result }) => result), failed }
  }
}

import { BaseCommand } from '../../base.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class PipelinesRetry extends BaseCommand {
  static override summary = 'Repeat the builds of pipelines that failed or were canceled'
  static override description =
    'It begins with the first stage that has such a build; the others wait for their stage again. A pipeline without such a build stays as it is. With --json: {retried, failed}: the pipelines in the form of `pipelines list`; each failure is {argument, error}.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> pipelines retry 1205',
    '<%= config.bin %> pipelines retry 1205 1206 --json'
  ]
  static override args = { pipeline: recordNumbers('number of a pipeline') }

  async run() {
    const { flags, argv } = await this.parse(PipelinesRetry)
    this.configure(flags)
    const [{ asked }, { sortOut }, { withDatabase }, { commandOrigin }, queries, { retryPipeline }] = await Promise.all(
      [
        import('../../asked.js'),
        import('../../each.js'),
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/pipelines/described-pipelines.queries.js'),
        import('../../../areas/builds/pipeline-actions.js'),
        import('../../../areas/todos/failed-builds.js')
      ]
    )
    const retry = async (id: number) => {
      await asked('pipeline', id, () => retryPipeline({ id }, commandOrigin()))
      const pipeline = await asked('pipeline', id, () => queries.requireDescribedPipeline(id))
      this.log(`pipeline ${id} is ${pipeline.status}`)
      return queries.viewDescribedPipeline(pipeline)
    }
    const { done, failed } = await withDatabase(() => sortOut(requireNumbers(argv), this.jsonEnabled(), retry))
    return { retried: done.map(({ result }) => result), failed }
  }
}

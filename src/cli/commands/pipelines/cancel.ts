import { BaseCommand } from '../../base.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class PipelinesCancel extends BaseCommand {
  static override summary = 'Cancel pipelines: their builds that run or wait'
  static override description =
    'The built-in runner ends a running build at once, with everything that it started. A pipeline that has ended stays as it is. With --json: {canceled, failed}: the pipelines in the form of `pipelines list`; each failure is {argument, error}.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> pipelines cancel 1205',
    '<%= config.bin %> pipelines cancel 1205 1206 --json'
  ]
  static override args = { pipeline: recordNumbers('number of a pipeline') }

  async run() {
    const { flags, argv } = await this.parse(PipelinesCancel)
    this.configure(flags)
    const [{ asked }, { sortOut }, { withDatabase }, { commandOrigin }, queries, { cancelPipeline }] =
      await Promise.all([
        import('../../asked.js'),
        import('../../each.js'),
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/pipelines/described-pipelines.queries.js'),
        import('../../../areas/builds/pipeline-actions.js')
      ])
    const cancel = async (id: number) => {
      await asked('pipeline', id, () => cancelPipeline({ id }, commandOrigin()))
      const pipeline = await asked('pipeline', id, () => queries.requireDescribedPipeline(id))
      this.log(`pipeline ${id} is ${pipeline.status}`)
      return queries.viewDescribedPipeline(pipeline)
    }
    const { done, failed } = await withDatabase(() => sortOut(requireNumbers(argv), this.jsonEnabled(), cancel))
    return { canceled: done.map(({ result }) => result), failed }
  }
}

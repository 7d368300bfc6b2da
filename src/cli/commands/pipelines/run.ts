import { BaseCommand } from '../../base.js'
import { Args, Flags } from '../../oclif.js'

export default class PipelinesRun extends BaseCommand {
  static override summary = 'Run the CI file of a branch or tag as a new pipeline'
  static override description =
    'A skip marker in the message of the commit does not count. With --json: the pipeline in the form of `pipelines list`.'
  static override examples = [
    '<%= config.bin %> pipelines run ada/engine',
    '<%= config.bin %> pipelines run ada/engine --ref v1.2 --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' })
  }
  static override flags = {
    ref: Flags.string({ description: 'the branch or tag (default: the default branch of the project)' })
  }

  async run() {
    const { args, flags } = await this.parse(PipelinesRun)
    this.configure(flags)
    const [{ withDatabase }, { commandOrigin }, { requireNamedProject }, queries, { runPipelineOf }] =
      await Promise.all([
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../named-project.js'),
        import('../../../areas/pipelines/described-pipelines.queries.js'),
        import('../../../areas/pipelines/requested-pipelines.js')
      ])
    const pipeline = await withDatabase(async () => {
      const project = await requireNamedProject(args.project)
      const id = await runPipelineOf(project, flags.ref, commandOrigin())
      return queries.requireDescribedPipeline(id)
    })
    this.log(`pipeline ${pipeline.id} of ${pipeline.ref} is ${pipeline.status}`)
    return queries.viewDescribedPipeline(pipeline)
  }
}

import { viewPipelineLine } from '../../../areas/ci/pipelines/pipelines.line.js'
import { requireAnyPipeline } from '../../../areas/ci/pipelines/pipelines.queries.js'
import { runPipelineOf } from '../../../areas/ci/pipelines/requested-pipelines.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { readVariables, variablesFlag } from '../../input/variables-flag.js'
import { Args, Flags } from '../../oclif.js'

export default class PipelinesRun extends BaseCommand {
  static override summary = 'Run the CI file of a branch or tag as a new pipeline'
  static override description =
    'Ignores skip markers in the commit message. With --json: the pipeline as in `pipelines list`.'
  static override examples = [
    '<%= config.bin %> pipelines run ada/engine',
    '<%= config.bin %> pipelines run ada/engine --ref v1.2 --json',
    `echo '{"LEVEL": "high"}' | <%= config.bin %> pipelines run ada/engine --variables -`
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' })
  }
  static override flags = {
    ref: Flags.string({ description: 'the branch or tag (default: the default branch of the project)' }),
    variables: variablesFlag
  }

  async run() {
    const { args, flags } = await this.parse(PipelinesRun)
    this.configure(flags)
    const variables = await readVariables(flags.variables)
    const pipeline = await withDatabase(async () => {
      const project = await requireNamedProject(args.project)
      const id = await runPipelineOf(project, { ref: flags.ref, variables }, commandOrigin())
      return requireAnyPipeline(id)
    })
    this.log(`pipeline ${pipeline.id} of ${pipeline.ref} is ${pipeline.status}`)
    return viewPipelineLine(pipeline)
  }
}

import { BaseCommand } from '../../base.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class PipelinesShow extends BaseCommand {
  static override summary = 'Show a pipeline with its builds, stage by stage'
  static override description =
    'Retried builds are shown as well. With --json: the pipeline in the form of `pipelines list`, with builds in the form of `builds list`.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> pipelines show 1205',
    '<%= config.bin %> pipelines show 1205 1206 --json'
  ]
  static override args = { pipeline: recordNumbers('number of a pipeline') }

  async run() {
    const { flags, argv } = await this.parse(PipelinesShow)
    this.configure(flags)
    const [{ asked }, { doEach }, { withDatabase }, pipelines, builds, { fields, table }] = await Promise.all([
      import('../../asked.js'),
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../../areas/pipelines/described-pipelines.queries.js'),
      import('../../../areas/builds/described-builds.queries.js'),
      import('../../table.js')
    ])
    const show = async (id: number) => {
      const pipeline = await asked('pipeline', id, () => pipelines.requireDescribedPipeline(id))
      const found = await builds.describedBuildsOf(id)
      const { yaml_errors: errors, ...view } = pipelines.viewDescribedPipeline(pipeline)
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
          ['RUNNER', build => build.runner],
          ['STARTED', build => build.started_at],
          ['FINISHED', build => build.finished_at]
        ])
      )
      return { ...view, yaml_errors: errors, builds: found.map(builds.viewDescribedBuild) }
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), show))
  }
}

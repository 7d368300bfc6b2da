import { BaseCommand } from '../../base.js'
import { Args } from '../../oclif.js'

export default class ProjectsShow extends BaseCommand {
  static override summary = 'Show a project'
  static override description =
    'With what it stores, as jobs counted it last, and with what became of its fork or import. An old path of the project works too.'
  static override examples = ['<%= config.bin %> projects show ada/engine', '<%= config.bin %> projects show 42 --json']
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' })
  }

  async run() {
    const { args, flags } = await this.parse(ProjectsShow)
    this.configure(flags)
    const [{ withDatabase }, { describeProject }, { fields }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../areas/projects/describe-project.js'),
      import('../../table.js')
    ])
    const project = await withDatabase(() => describeProject(args.project))
    this.log(fields(project))
    return project
  }
}

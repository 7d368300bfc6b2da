import { BaseCommand } from '../../base.js'
import { Args } from '../../oclif.js'

export default class ProjectsArchive extends BaseCommand {
  static override summary = 'Archive projects: nobody can push to them any more'
  static override description =
    'Everything stays readable. It does not ask, because `projects unarchive` takes it back. With --json: the project in the form of `projects show`.'
  static override examples = [
    '<%= config.bin %> projects archive ada/engine',
    '<%= config.bin %> projects archive 42 43 --json'
  ]
  static override strict = false
  static override args = {
    project: Args.string({
      required: true,
      description: 'the project: NAMESPACE/PROJECT or number; you can give several'
    })
  }

  async run() {
    const { argv, flags } = await this.parse(ProjectsArchive)
    this.configure(flags)
    const [{ doEach }, { withDatabase }, { commandOrigin }, queries, { archiveProject }, { describeProject }] =
      await Promise.all([
        import('../../each.js'),
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/projects/projects.queries.js'),
        import('../../../areas/projects/project-update.js'),
        import('../../../areas/projects/describe-project.js')
      ])
    const change = async (name: string) => {
      const { id, archived } = await queries.requireProject(name)
      await archiveProject({ id }, true, commandOrigin())
      const project = await describeProject(String(id))
      const { path_with_namespace: path } = project
      this.log(archived === 1 ? `project ${path} is already archived` : `archived project ${path}`)
      return project
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), change))
  }
}

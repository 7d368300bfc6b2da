import { projectLine } from '../../../areas/projects/projects/projects.line.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Args } from '../../oclif.js'
import { fields } from '../../output/table.js'

export default class ProjectsShow extends BaseCommand {
  static override summary = 'Show a project'
  static override description =
    'Includes its storage when a job last measured it, and the state of its fork or import. An old path of the project also works.'
  static override examples = [
    '<%= config.bin %> projects show ada/engine',
    '<%= config.bin %> projects show 42 43 --json'
  ]
  static override strict = false
  static override args = {
    project: Args.string({
      required: true,
      description: 'the project: NAMESPACE/PROJECT or number; you can give several'
    })
  }

  async run() {
    const { argv, flags } = await this.parse(ProjectsShow)
    this.configure(flags)
    const show = async (name: string) => {
      const project = await projectLine((await requireNamedProject(name)).id)
      this.log(fields(project))
      return project
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), show))
  }
}

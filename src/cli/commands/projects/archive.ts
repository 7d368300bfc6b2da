import { BaseCommand } from '../../framework/base.js'
import { Args } from '../../oclif.js'
import { archiveProjects } from '../../topics/archive-projects.js'

export default class ProjectsArchive extends BaseCommand {
  static override summary = 'Archive projects, so that nobody can push to them'
  static override description =
    'Everything stays readable. The command does not ask for confirmation, because `projects unarchive` undoes it. With --json: the project as in `projects show`.'
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
    return archiveProjects(argv.map(String), {
      archived: true,
      json: this.jsonEnabled(),
      report: (path, changed) => this.log(changed ? `archived project ${path}` : `project ${path} is already archived`)
    })
  }
}

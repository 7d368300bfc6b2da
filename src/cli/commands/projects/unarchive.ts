import { BaseCommand } from '../../framework/base.js'
import { Args } from '../../oclif.js'
import { archiveProjects } from '../../topics/archive-projects.js'

export default class ProjectsUnarchive extends BaseCommand {
  static override summary = 'Unarchive projects, so that users can push to them again'
  static override description = 'Undoes `projects archive`. With --json: the project as in `projects show`.'
  static override examples = [
    '<%= config.bin %> projects unarchive ada/engine',
    '<%= config.bin %> projects unarchive 42 43 --json'
  ]
  static override strict = false
  static override args = {
    project: Args.string({
      required: true,
      description: 'the project: NAMESPACE/PROJECT or number; you can give several'
    })
  }

  async run() {
    const { argv, flags } = await this.parse(ProjectsUnarchive)
    this.configure(flags)
    return archiveProjects(argv.map(String), {
      archived: false,
      json: this.jsonEnabled(),
      report: (path, changed) => this.log(changed ? `unarchived project ${path}` : `project ${path} is not archived`)
    })
  }
}

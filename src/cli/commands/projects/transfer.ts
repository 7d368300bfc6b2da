import * as groups from '../../../areas/people/groups/groups.queries.js'
import { transferProject } from '../../../areas/projects/project-groups/transfer.js'
import { projectLine } from '../../../areas/projects/projects/projects.line.js'
import * as projects from '../../../areas/projects/projects/projects.queries.js'
import { Conflict, Invalid } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'

export default class ProjectsTransfer extends BaseCommand {
  static override summary = 'Move a project into a group'
  static override description =
    'The old path still leads to the project, and no files are moved. A project that is more visible than the group gets the visibility of the group. The exit code is 4 if the project is already in the group, or if the group has another project with this name or path. With --json: the project as in `projects show`.'
  static override examples = [
    '<%= config.bin %> projects transfer ada/engine machines',
    '<%= config.bin %> projects transfer 42 machines --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' }),
    group: Args.string({ required: true, description: 'the group: path or number' })
  }

  async run() {
    const { args, flags } = await this.parse(ProjectsTransfer)
    this.configure(flags)
    return withDatabase(async () => {
      const [project, group] = [await projects.requireProject(args.project), await groups.requireGroup(args.group)]
      if (project.namespace_id === group.id)
        throw new Conflict(`project ${project.namespace_path}/${project.path} is already in the group ${group.path}`)
      await transferProject(project.id, group.id, commandOrigin()).catch(error => {
        const { cause } = error as Error
        throw cause instanceof Invalid ? new Conflict(`in the group ${group.path}, the ${cause.message}`) : error
      })
      const moved = await projectLine(project.id)
      this.log(`moved project ${project.namespace_path}/${project.path} to ${moved.path_with_namespace}`)
      return moved
    })
  }
}

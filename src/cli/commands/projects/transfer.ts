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
    'The old path goes on to lead to the project, and no file moves. A project that is more visible than the group gets the level of the group. Exit code 4 when the project is in the group already, or the group has another project of this name or path. With --json: the project in the form of `projects show`.'
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
        throw new Conflict(`project ${project.namespace_path}/${project.path} is in the group ${group.path} already`)
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

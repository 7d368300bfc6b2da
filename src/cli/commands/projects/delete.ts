import { projectLine } from '../../../areas/projects/projects/projects.line.js'
import type { ProjectRow as Found } from '../../../areas/projects/projects/projects.queries.js'
import * as queries from '../../../areas/projects/projects/projects.queries.js'
import * as counts from '../../../areas/upkeep/removal/project-deletion.queries.js'
import * as removal from '../../../areas/upkeep/removal/project-removal.js'
import { BaseCommand } from '../../framework/base.js'
import { destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { destroyEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import { projectLoss } from '../../output/project-loss.js'

export default class ProjectsDelete extends BaseCommand {
  static override summary = 'Delete a project with its repository, builds and files'
  static override description =
    'The project disappears at once; a job of the worker then deletes the repository, the builds and the files. Forks are kept. This cannot be undone, except that `restore --project` restores a project from a backup: use --dry-run first, or archive the project instead. The command asks for confirmation at the terminal, or needs --yes. With --json: {deleted: project}, or with --dry-run {would_delete: project, commit_count, repository_size, build_artifacts_size, goes, forks}, the project as in `projects show`.'
  static override examples = [
    '<%= config.bin %> projects delete ada/engine --dry-run',
    '<%= config.bin %> projects delete ada/engine --yes',
    '<%= config.bin %> projects delete 42 43 --yes --json'
  ]
  static override strict = false
  static override args = {
    project: Args.string({
      required: true,
      description: 'the project: NAMESPACE/PROJECT or number; you can give several'
    })
  }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { argv, flags } = await this.parse(ProjectsDelete)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    const dryRun = flags['dry-run'] === true
    if (!dryRun) requireAnswer(how)
    const pathOf = ({ namespace_path, path }: Found) => `${namespace_path}/${path}`
    const loss = async (project: Found) => projectLoss(pathOf(project), await counts.deletionOfProject(project))
    const show = async (project: Found) => {
      const deletion = await counts.deletionOfProject(project)
      this.log(projectLoss(pathOf(project), deletion))
      return { would_delete: await projectLine(project.id), ...deletion }
    }
    const destroy = async (project: Found) => {
      const deleted = await projectLine(project.id)
      await removal.removeProject(project, commandOrigin())
      this.log(`deleted project ${pathOf(project)} (id ${project.id})`)
      return { deleted }
    }
    return withDatabase(() =>
      destroyEach<string, Found, object>(argv.map(String), {
        find: queries.requireProject,
        loss,
        destroy: dryRun ? show : destroy,
        how,
        dryRun
      })
    )
  }
}

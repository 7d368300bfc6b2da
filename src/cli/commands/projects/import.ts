import { importProject } from '../../../areas/upkeep/project-archives/import.js'
import { counted } from '../../../lib/counted.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { progressLine } from '../../framework/progress.js'
import { endedBySignals } from '../../framework/signals.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'

export default class ProjectsImport extends BaseCommand {
  static override summary = 'Create a project from an archive that `projects export` wrote'
  static override description =
    'The new project has new ids, but keeps iids and dates. Users are matched by username: texts of a missing user belong to the importing user, with a note about the original author, and missing members are only listed. The project becomes visible only after all checks; after a damaged archive, a failure or a signal, nothing is left. In the namespace of a user, that user is the importing user; in a group it is the user of --creator (default: an owner of the group). Unfinished builds are canceled. Hooks and schedules are disabled until somebody enables them. To fetch a repository from a URL, see `projects create --import-url`.'
  static override examples = [
    '<%= config.bin %> projects import ada-engine-20261122T120000Z.zip --namespace machines',
    '<%= config.bin %> projects import /mnt/engine.zip --namespace ada --path engine-2 --json'
  ]
  static override args = {
    file: Args.string({ required: true, description: 'the archive file' })
  }
  static override flags = {
    namespace: Flags.string({ required: true, description: 'the path of the user or group for the new project' }),
    path: Flags.string({ description: 'the last part of the path (default: as in the archive)' }),
    creator: Flags.string({ description: 'the importing user: username, mail address or number' })
  }

  async run() {
    const { args, flags } = await this.parse(ProjectsImport)
    this.configure(flags)
    const line = progressLine()
    const imported = await endedBySignals(signal =>
      withDatabase(() => {
        const { namespace, path, creator } = flags
        const options = {
          namespace,
          ...(path === undefined ? {} : { path }),
          ...(creator === undefined ? {} : { creator }),
          signal,
          progress: (what: string, done: number, total: number) => line.show(what, done, total)
        }
        return importProject(args.file, options, commandOrigin())
      })
    ).finally(line.end)
    const { counts, missing_members: members, missing_users: people } = imported
    this.log(
      `imported ${imported.path_with_namespace} (id ${imported.id}): ${counted(counts.issue, 'issue')}, ` +
        `${counted(counts.merge_request, 'merge request')}, ${counted(counts.note, 'comment')}, ${counted(counts.pipeline, 'pipeline')}, ` +
        `${counted(imported.refs, 'ref')}, ${counted(imported.uploads, 'upload')}, ${counted(imported.lfs, 'LFS file')}`
    )
    if (counts.hook + counts.pipeline_schedule > 0)
      this.log(
        `disabled until you enable them: ${counted(counts.hook, 'hook')}, ${counted(counts.pipeline_schedule, 'schedule')}`
      )
    if (members.length > 0)
      this.log(
        `members without an account here: ${members.slice(0, 50).join(', ')}${members.length > 50 ? ', ...' : ''}`
      )
    const authors = people.filter(name => !members.includes(name))
    if (authors.length > 0)
      this.log(
        `others without an account here: ${authors.slice(0, 50).join(', ')}${authors.length > 50 ? ', ...' : ''}`
      )
    return imported
  }
}

import { importProject } from '../../../areas/upkeep/project-archives/import.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { progressLine } from '../../framework/progress.js'
import { endedBySignals } from '../../framework/signals.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'

export default class ProjectsImport extends BaseCommand {
  static override summary = 'Make a project of an archive that `projects export` wrote'
  static override description =
    'It makes a new project with new ids; iids and dates stay. People are found by their usernames: what a missing one wrote belongs to the importing user, with a line that says so, and a missing member is only listed. All is checked before anybody sees it; a damaged archive, a failure or a signal leaves nothing. In the namespace of a user, the user imports it; in a group --creator does, or else an owner of the group. Unfinished builds are canceled. To fetch a repository from a URL, see `projects create --import-url`.'
  static override examples = [
    '<%= config.bin %> projects import ada-engine-20261122T120000Z.zip --namespace machines',
    '<%= config.bin %> projects import /mnt/engine.zip --namespace ada --path engine-2 --json'
  ]
  static override args = {
    file: Args.string({ required: true, description: 'the archive' })
  }
  static override flags = {
    namespace: Flags.string({ required: true, description: 'the path of the user or group that gets the project' }),
    path: Flags.string({ description: 'the last part of the path; that of the archive without it' }),
    creator: Flags.string({ description: 'who imports it: username, mail address or number' })
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
      `imported ${imported.path_with_namespace} (id ${imported.id}): ${counts.issue} issues, ${counts.merge_request} merge ` +
        `requests, ${counts.note} comments, ${counts.pipeline} pipelines, ${imported.refs} refs, ${imported.uploads} uploads`
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

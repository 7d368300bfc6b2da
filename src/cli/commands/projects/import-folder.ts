import { importFolder } from '../../../areas/upkeep/project-archives/import-folder.js'
import { INTERNAL, PRIVATE, PUBLIC } from '../../../lib/levels.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { Args, Flags } from '../../oclif.js'
import { importMany } from '../../topics/project-imports.js'

const LEVELS = { private: PRIVATE, internal: INTERNAL, public: PUBLIC } as const

export default class ProjectsImportFolder extends BaseCommand {
  static override summary = 'Create a project from each bare repository in a folder'
  static override description =
    'Each folder NAME.git below the given one becomes the project NAMESPACE/NAME, with its branches and tags. The command reads objects and refs only: hooks and configuration of the repositories are never used, and links are not followed. A repository that borrows objects from another one, has a cut-off history or fails the checks of a push is refused. Projects that exist already stay as they are, so you may end the command at any time and run it again. The exit code is 1 if a repository is refused. With --json: {imported, existing, refused: [{repository, error}]}, or with --dry-run {would_import, existing, refused}.'
  static override examples = [
    '<%= config.bin %> projects import-folder /srv/git --namespace machines --dry-run',
    '<%= config.bin %> projects import-folder /srv/git --namespace machines --visibility internal'
  ]
  static override args = { folder: Args.string({ required: true, description: 'the folder with the repositories' }) }
  static override flags = {
    namespace: Flags.string({ required: true, description: 'the path of the user or group for the new projects' }),
    visibility: Flags.option({
      options: ['private', 'internal', 'public'] as const,
      default: 'private',
      description: 'who can see the projects'
    })(),
    creator: Flags.string({ description: 'the creator in a group: username, mail address or number' }),
    'dry-run': Flags.boolean({ description: 'look at all repositories and create nothing' })
  }

  async run() {
    const { args, flags } = await this.parse(ProjectsImportFolder)
    this.configure(flags)
    const { namespace, creator, visibility } = flags
    const dryRun = flags['dry-run'] === true
    return importMany<{ readonly repository: string; readonly error: string }>({
      json: this.jsonEnabled(),
      dryRun,
      log: line => this.log(line),
      refusedWord: 'refused',
      lineOf: ({ repository, error }) => `${repository}: ${error}`,
      work: ({ signal, refuse, done }) => {
        const options = {
          namespace,
          ...(creator === undefined ? {} : { creator }),
          visibility: LEVELS[visibility],
          dryRun,
          signal,
          refuse: (repository: string, error: string) => refuse({ repository, error }),
          done
        }
        return importFolder(args.folder, options, commandOrigin())
      }
    })
  }
}

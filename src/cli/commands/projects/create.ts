import { placeOfNewProject } from '../../../areas/projects/projects/new-project-target.js'
import * as rules from '../../../areas/projects/projects/projects.js'
import { projectLine } from '../../../areas/projects/projects/projects.line.js'
import { BadParameters } from '../../../errors.js'
import { INTERNAL, PRIVATE, PUBLIC } from '../../../lib/levels.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { readFirstLine } from '../../input/password.js'
import { Args, Flags } from '../../oclif.js'

const LEVELS = { private: PRIVATE, internal: INTERNAL, public: PUBLIC } as const

export default class ProjectsCreate extends BaseCommand {
  static override summary = 'Create a project, empty or filled from a git URL'
  static override description =
    'In the namespace of a user, that user is the creator, and their projects limit applies. In a group, the creator is the user of --creator, who must be a master of the group or an administrator; the default is an owner of the group. With an import URL, a job of the worker fetches branches and tags: `projects show` shows its state. Put a URL with a password into a file, because everyone on the machine can read command lines. With --json: the project as in `projects show`.'
  static override examples = [
    '<%= config.bin %> projects create ada/engine --description "Calculates"',
    '<%= config.bin %> projects create machines/engine --visibility internal --creator ada --json',
    '<%= config.bin %> projects create ada/copy --import-url https://git.example.org/engine.git',
    '<%= config.bin %> projects create ada/copy --import-url-file ./url'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the new project: NAMESPACE/PROJECT' })
  }
  static override flags = {
    name: Flags.string({ description: 'the display name (default: the last part of the path)' }),
    description: Flags.string({ description: 'what the project is about' }),
    visibility: Flags.option({
      options: ['private', 'internal', 'public'] as const,
      description: 'who can see the project (default: set in the application settings)'
    })(),
    'default-branch': Flags.string({ description: 'the default branch' }),
    'import-url': Flags.string({
      description: 'fetch branches and tags from this http, https or git URL',
      exclusive: ['import-url-file']
    }),
    'import-url-file': Flags.file({ description: 'read the import URL from the first line of a file' }),
    creator: Flags.string({ description: 'the creator: username, mail address or number' })
  }

  async run() {
    const { args, flags } = await this.parse(ProjectsCreate)
    this.configure(flags)
    const file = flags['import-url-file']
    const url = file === undefined ? flags['import-url'] : (await readFirstLine('import-url', file)).trim()
    if (url === '') throw new BadParameters('import_url is empty', 'the import URL is empty')
    const { visibility, description } = flags
    return withDatabase(async () => {
      const { namespaceId, path, creator } = await placeOfNewProject(args.project, flags.creator)
      const body = {
        name: flags.name ?? path,
        path,
        namespace_id: namespaceId,
        description,
        ...(visibility === undefined ? {} : { visibility_level: LEVELS[visibility] }),
        ...(url === undefined ? {} : { import_url: url }),
        default_branch: flags['default-branch']
      }
      const project = await projectLine(await rules.createProjectFor(creator, body, commandOrigin()))
      this.log(`created project ${project.path_with_namespace} (id ${project.id})`)
      if (project.import_status !== null) this.log('a job fetches its branches and tags: see `projects show`')
      return project
    })
  }
}

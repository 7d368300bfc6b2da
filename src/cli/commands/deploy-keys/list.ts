import type { ListedDeployKeyRow as Row } from '../../../areas/projects/ssh/deploy-keys.queries.js'
import { listWithProjects, withProjectsBefore } from '../../../areas/projects/ssh/deploy-keys.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

const COLUMNS: readonly Column<Row>[] = [
  ['ID', key => key.id],
  ['TITLE', key => key.title],
  ['MAY', key => (key.can_push ? 'push' : 'read')],
  ['PROJECTS', key => (key.is_public ? 'public ' : '') + (key.projects ?? '').replaceAll('\n', ' ')],
  ['FINGERPRINT', key => `SHA256:${key.fingerprint}`],
  ['LAST USED', key => key.last_used_at],
  ['CREATED', key => key.created_at]
]

export default class DeployKeysList extends BaseCommand {
  static override summary = 'List deploy keys, newest first'
  static override description =
    'With --json: {deploy_keys, total}, each with id, title, key, created_at, can_push, and also public, fingerprint (as `ssh-keygen -l` prints it), last_used_at and projects (their paths); total also counts the keys beyond --limit.'
  static override examples = [
    '<%= config.bin %> deploy-keys list',
    '<%= config.bin %> deploy-keys list --project ada/engine --json'
  ]
  static override flags = {
    project: Flags.string({ description: 'only keys of this project: NAMESPACE/PROJECT or number' }),
    limit: Flags.integer({ default: 100, min: 1, max: 10_000, description: 'show at most this many keys' }),
    ...allFlag()
  }

  async run() {
    const { flags } = await this.parse(DeployKeysList)
    this.configure(flags)
    return withDatabase(async () => {
      const projectId = flags.project === undefined ? undefined : (await requireNamedProject(flags.project)).id
      return printList({
        name: 'deploy_keys',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: async () => (await import('../../../areas/projects/ssh/deploy-keys.view.js')).viewDeployKeyInList,
        first: () => listWithProjects({ projectId, limit: flags.limit }),
        part: (last = Number.MAX_SAFE_INTEGER) => withProjectsBefore(projectId, last),
        idOf: ({ id }) => id
      })
    })
  }
}

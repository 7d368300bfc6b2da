import type { CountedProject as Row } from '../../../areas/projects/projects/all-projects.queries.js'
import * as queries from '../../../areas/projects/projects/all-projects.queries.js'
import { viewProjectLine } from '../../../areas/projects/projects/projects.line.js'
import { bytesText } from '../../../lib/bytes.js'
import { visibilityName } from '../../../lib/levels.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { readMoment } from '../../input/moment.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

const size = (bytes: number | null) => (bytes === null ? null : bytesText(bytes))

const COLUMNS: readonly Column<Row>[] = [
  ['ID', project => project.id],
  ['PATH', project => `${project.namespace_path}/${project.path}`],
  ['VISIBILITY', project => visibilityName(project.visibility_level)],
  ['ARCHIVED', project => project.archived === 1],
  ['COMMITS', project => project.commit_count],
  ['REPOSITORY', project => size(project.repository_size)],
  ['ARTIFACTS', project => size(project.build_artifacts_size)],
  ['LAST ACTIVITY', project => project.last_activity_at]
]

export default class ProjectsList extends BaseCommand {
  static override summary = 'List projects with their sizes and last activity, newest first'
  static override description =
    'Lists the projects that match all given filters. Jobs count commits and bytes after each push; a project that is not counted yet shows -. With --json: {projects, total}, each as in `projects show`; total also counts the projects beyond --limit. With --all --json, each project is one line.'
  static override examples = [
    '<%= config.bin %> projects list --namespace ada',
    '<%= config.bin %> projects list --order size --limit 10',
    '<%= config.bin %> projects list --no-archived --inactive 365d --json',
    '<%= config.bin %> projects list --all --json > projects.json'
  ]
  static override flags = {
    ...allFlag(),
    namespace: Flags.string({ description: 'only projects of this user or group: its path' }),
    visibility: Flags.option({
      options: ['private', 'internal', 'public'] as const,
      description: 'only projects with this visibility'
    })(),
    archived: Flags.boolean({ allowNo: true, description: 'only archived projects; --no-archived excludes them' }),
    inactive: Flags.string({
      description: 'only projects without activity for this long, such as 365d, or since a date'
    }),
    search: Flags.string({ description: 'only projects with this text in their name, path or description' }),
    order: Flags.option({
      options: ['newest', 'activity', 'size', 'path'] as const,
      default: 'newest' as const,
      description: 'sort by newest, latest activity, largest size (repository and artifacts), or path'
    })(),
    limit: Flags.integer({ default: 100, min: 1, max: 10_000, description: 'show at most this many projects' })
  }

  async run() {
    const { flags } = await this.parse(ProjectsList)
    this.configure(flags)
    const { namespace, visibility, archived, search, order } = flags
    const quietSince = flags.inactive === undefined ? undefined : readMoment('--inactive', flags.inactive)
    const filter = { namespace, visibility, archived, search, quietSince }
    return withDatabase(async () => {
      if (namespace !== undefined) await queries.requireNamespace(namespace)
      return printList({
        name: 'projects',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: () => viewProjectLine,
        first: () => queries.listAllProjects(filter, order, flags.limit),
        part: queries.projectParts(filter, order),
        idOf: ({ id }) => id
      })
    })
  }
}

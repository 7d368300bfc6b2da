import {
  ARCHIVED_KINDS,
  type ArchivedFile,
  countFiles,
  listFiles,
  viewFile
} from '../../../areas/ground/records/archived-files.js'
import { bytesText } from '../../../lib/bytes.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

const COLUMNS: readonly Column<ArchivedFile>[] = [
  ['ID', file => file.id],
  ['KIND', file => file.kind],
  ['MONTH', file => file.month],
  ['PROJECT', file => file.project],
  ['RECORDS', file => file.records],
  ['SIZE', file => bytesText(Number(file.bytes))],
  ['FILE', file => file.name]
]
const PART = 1000

export default class ArchiveList extends BaseCommand {
  static override summary = 'List the files of builds, events and deliveries that have left the database'
  static override description =
    'The section `archive` of the configuration says what leaves the database, and when. FILE is a path below the home, or the name of an object in the bucket. With --json: {files, total}.'
  static override examples = [
    '<%= config.bin %> archive list',
    '<%= config.bin %> archive list --kind builds --month 2026-03 --json',
    '<%= config.bin %> archive list --project ada/engine --all'
  ]
  static override flags = {
    kind: Flags.option({ options: ARCHIVED_KINDS, description: 'only files of this kind' })(),
    month: Flags.string({ description: 'only records of this month, such as 2026-03' }),
    project: Flags.string({ description: 'only records of this project: NAMESPACE/PROJECT or number' }),
    limit: Flags.integer({ default: 20, min: 1, max: PART, description: 'how many files to show' }),
    ...allFlag()
  }

  async run() {
    const { flags } = await this.parse(ArchiveList)
    this.configure(flags)
    return withDatabase(async () => {
      const project = flags.project === undefined ? undefined : await requireNamedProject(flags.project)
      const filter = { kind: flags.kind, month: flags.month, projectId: project?.id }
      return printList({
        name: 'files',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: () => viewFile,
        first: async () => ({ items: await listFiles(filter, flags.limit), total: await countFiles(filter) }),
        part: last => listFiles(filter, PART, last),
        idOf: file => file.id
      })
    })
  }
}

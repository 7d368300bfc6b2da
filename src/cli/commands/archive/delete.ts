import { type ArchivedFile, deleteFile, requireFile, viewFile } from '../../../areas/ground/records/archived-files.js'
import { DestroyingCommand, type RecordDestruction } from '../../framework/destroying-command.js'
import { recordNumbers } from '../../input/record-number.js'

export default class ArchiveDelete extends DestroyingCommand<ArchivedFile> {
  static override summary = 'Delete archived files with their records, for good'
  static override description =
    '`archive list` shows the numbers of the files. With --json: {deleted}, or with --dry-run {would_delete}: the file as in `archive list`.'
  static override examples = [
    '<%= config.bin %> archive delete 12 --dry-run',
    '<%= config.bin %> archive delete 12 13 --yes --json'
  ]
  static override args = { file: recordNumbers('number of the file') }

  protected override readonly destruction: RecordDestruction<ArchivedFile> = {
    kind: 'archived file',
    verb: 'delete',
    find: requireFile,
    nameOf: ({ id, kind, month, project, records }) =>
      `archived file ${id} (${records} ${kind} of ${month}, ${project ?? 'of no project'})`,
    destroy: async (file, origin) => {
      await deleteFile(file, origin)
      return file
    },
    view: viewFile
  }
}

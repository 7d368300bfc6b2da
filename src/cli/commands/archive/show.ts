import { linesOf } from '../../../areas/ground/records/archived-files.js'
import { BaseCommand } from '../../framework/base.js'
import { writeOut } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'

export default class ArchiveShow extends BaseCommand {
  static override summary = 'Print the records of archived files, as one line of JSON each'
  static override description =
    'Each line has the `table` of a record and its `row`, without secrets. The line of a build also has its `trace`. `archive list` shows the numbers of the files.'
  static override examples = [
    '<%= config.bin %> archive show 12',
    '<%= config.bin %> archive show 12 13 | jq -r \'select(.table == "builds") | .trace\''
  ]
  static override enableJsonFlag = false
  static override strict = false
  static override args = { file: recordNumbers('number of the file') }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(ArchiveShow)
    this.configure(flags)
    const files = requireNumbers(argv)
    await withDatabase(async () => {
      for (const file of files) {
        for await (const line of linesOf(file)) if (!(await writeOut(`${line}\n`))) return
      }
    })
  }
}

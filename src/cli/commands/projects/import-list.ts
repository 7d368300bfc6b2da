import type { ListedRefusal } from '../../../areas/projects/imports/import-list.js'
import { importList, LIST_COLUMNS, REQUIRED_LIST_COLUMNS } from '../../../areas/projects/imports/import-list.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { openCsvFile } from '../../input/csv-file.js'
import { Args, Flags } from '../../oclif.js'
import { importMany } from '../../topics/project-imports.js'

export default class ProjectsImportList extends BaseCommand {
  static override summary = 'Create projects from a CSV file of git URLs'
  static override description =
    'The first row names the columns: path (NAMESPACE/PROJECT) and url (http, https or git) are required; visibility (private, internal or public; empty for the default of the appliance) is optional. Jobs of the worker fetch branches and tags, with the limits and the address rules of imports, a few at once, and the command waits for them. You may end it at any time: the next run with the same file waits for projects that are not finished, tries failed ones again, and leaves all others as they are. The command reports each line that is refused or fails, and the exit code is then 1. With --json: {imported, existing, refused: [{line, path, error}]}, or with --dry-run {would_import, existing, refused}.'
  static override examples = [
    '<%= config.bin %> projects import-list repositories.csv --dry-run',
    '<%= config.bin %> projects import-list repositories.csv --creator ada',
    '<%= config.bin %> projects import-list - --json < repositories.csv'
  ]
  static override args = {
    file: Args.string({ required: true, description: 'the CSV file in UTF-8, or - for standard input' })
  }
  static override flags = {
    'dry-run': Flags.boolean({ description: 'check all lines and create nothing' }),
    creator: Flags.string({ description: 'the creator of projects in groups: username, mail address or number' })
  }

  async run() {
    const { args, flags } = await this.parse(ProjectsImportList)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const file = await openCsvFile(args.file, { known: LIST_COLUMNS, required: REQUIRED_LIST_COLUMNS })
    const { creator } = flags
    return importMany<ListedRefusal>({
      json: this.jsonEnabled(),
      dryRun,
      log: line => this.log(line),
      refusedWord: 'refused or failed',
      lineOf: ({ line, path, error }) => `line ${line}: ${path ?? ''}: ${error}`,
      work: importing => {
        const options = { dryRun, ...(creator === undefined ? {} : { creator }), ...importing }
        return importList(file.lines, options, commandOrigin())
      }
    })
  }
}

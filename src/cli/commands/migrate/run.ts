import { isPartial, runMigration } from '../../../areas/migrate/runs/run.js'
import { BaseCommand } from '../../framework/base.js'
import { Flags } from '../../oclif.js'
import { printable } from '../../output/table.js'
import { migrationArgs, onMigration, projectFlags, refusedLines, skippedLines } from '../../topics/migrations.js'

export default class MigrateRun extends BaseCommand {
  static override summary = 'Move projects from another forge, or bring them up to date'
  static override description =
    'Brings groups with their members, and projects with repository, labels, milestones, issues, merge requests, comments and files. Authors, dates and numbers stay. A project is visible when it is whole. A run that was killed continues where it was. Run the command again until the day of the move: a project that has changed there is replaced by a new one with the same path and a new id; one that has not is left as it is; one that somebody has changed here, or that another migration has brought, is refused, unless you give --overwrite. A project that fails, or a record of a project, group, member or user that cannot be read, does not stop the others; the exit code is then 1. The report is also in HOME/migrations/NAME/report.json. With --json: the report.'
  static override examples = [
    '<%= config.bin %> migrate run old',
    '<%= config.bin %> migrate run old --project tools/web --project tools/cli',
    '<%= config.bin %> migrate run old --json'
  ]
  static override args = migrationArgs
  static override flags = {
    ...projectFlags,
    overwrite: Flags.boolean({
      description: 'replace projects also when somebody has changed them here, or another migration has brought them'
    })
  }

  async run() {
    const { args, flags } = await this.parse(MigrateRun)
    this.configure(flags)
    const options = { projects: flags.project ?? [], overwrite: flags.overwrite === true }
    const report = await onMigration(args.name, (migration, given) => runMigration(migration, options, given))
    for (const each of report.projects) {
      if (each.result === 'failed') this.log(printable(`${each.from}: failed: ${each.error}`))
      else
        this.log(
          [printable(`${each.from}: ${each.result} ${each.to}`), ...skippedLines(each.skipped).map(printable)].join(
            '\n'
          )
        )
    }
    for (const { from, error } of report.unreadable) this.log(printable(`${from}: ${error}`))
    for (const line of skippedLines(report.skipped)) this.log(printable(line))
    for (const line of refusedLines(report.unassigned)) this.log(line)
    if (report.placeholders.length > 0)
      this.log(`some people have placeholders: see gitstead migrate placeholders ${args.name}`)
    this.log(report.file)
    if (isPartial(report)) process.exitCode = 1
    return report
  }
}

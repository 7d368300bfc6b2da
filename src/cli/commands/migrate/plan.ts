import { planMigration } from '../../../areas/migrate/runs/plan.js'
import { bytesText } from '../../../lib/bytes.js'
import { counted } from '../../../lib/counted.js'
import { BaseCommand } from '../../framework/base.js'
import { Flags } from '../../oclif.js'
import { printable } from '../../output/table.js'
import { countedKind, migrationArgs, onMigration, projectFlags, skippedLines } from '../../topics/migrations.js'

const MOST_SHOWN = 50

export default class MigratePlan extends BaseCommand {
  static override summary = 'Show what a migration would bring, and what not'
  static override description =
    'Reads the projects whole, and writes nothing into the database; the next run uses what was read. With --quick, it only asks for the counts. Shows which people have no user here: they would get placeholders, unless `migrate add --people` names their users. The exit code is 1 if something would make `migrate run` fail. With --json: {source, projects, problems, matched, unmatched}.'
  static override examples = [
    '<%= config.bin %> migrate plan old',
    '<%= config.bin %> migrate plan old --project tools/web --json',
    '<%= config.bin %> migrate plan old --quick'
  ]
  static override args = migrationArgs
  static override flags = {
    ...projectFlags,
    quick: Flags.boolean({ description: 'only ask for counts, and read nothing else' })
  }

  async run() {
    const { args, flags } = await this.parse(MigratePlan)
    this.configure(flags)
    const options = { projects: flags.project ?? [], quick: flags.quick === true }
    const plan = await onMigration(args.name, (migration, given) => planMigration(migration, options, given))
    const { source, projects, problems, matched, unmatched } = plan
    this.log(
      `version ${printable(source.version)}, as ${source.username}${source.is_admin ? ', an administrator' : ''}`
    )
    for (const { path, size, counts, files, lfs, skipped } of projects) {
      const numbers = Object.entries(counts).flatMap(([kind, count]) => (count === 0 ? [] : countedKind(count, kind)))
      const large = lfs?.files ? [`${counted(lfs.files, 'file')} in LFS, ${bytesText(lfs.bytes)}`] : []
      const more = [...(size === null ? [] : [bytesText(size)]), ...(files ? [counted(files, 'file')] : []), ...large]
      this.log(
        [printable(`${path}: ${[...numbers, ...more].join(', ')}`), ...skippedLines(skipped).map(printable)].join('\n')
      )
    }
    for (const problem of problems) this.log(printable(problem))
    if (problems.length > 0) process.exitCode = 1
    if (flags.quick) return plan
    this.log(`people with a user here: ${Object.keys(matched).length}, without: ${unmatched.length}`)
    if (unmatched.length > 0)
      this.log(
        printable(`  ${unmatched.slice(0, MOST_SHOWN).join(', ')}${unmatched.length > MOST_SHOWN ? ', ...' : ''}`)
      )
    return plan
  }
}

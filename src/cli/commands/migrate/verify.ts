import { verifyMigration } from '../../../areas/migrate/runs/verify/verify.js'
import { counted } from '../../../lib/counted.js'
import { BaseCommand } from '../../framework/base.js'
import { printable } from '../../output/table.js'
import { migrationArgs, onMigration, projectFlags } from '../../topics/migrations.js'

export default class MigrateVerify extends BaseCommand {
  static override summary = 'Compare the projects of another forge with those here'
  static override description =
    'Reads both sides, and compares all records, branches and tags. The exit code is 1 when something differs, which it does after changes on either side, or when a project could not be compared. With --json: {projects}, each with from, to, error, counts, compared, different, differences and refs.'
  static override examples = [
    '<%= config.bin %> migrate verify old',
    '<%= config.bin %> migrate verify old --project tools/web --json'
  ]
  static override args = migrationArgs
  static override flags = { ...projectFlags }

  async run() {
    const { args, flags } = await this.parse(MigrateVerify)
    this.configure(flags)
    const projects = await onMigration(args.name, (migration, given) =>
      verifyMigration(migration, flags.project ?? [], given)
    )
    for (const { from, to, error, counts, compared, different, differences, refs } of projects) {
      const numbers = Object.entries(counts).map(([kind, { there, here }]) => `  ${kind}: ${there} there, ${here} here`)
      const wrong = to === null || different > 0 || refs.length > 0 || numbers.length > 0
      if (wrong) process.exitCode = 1
      const head =
        to === null
          ? `${from}: ${error ?? 'has not come yet'}`
          : `${from} and ${to}: ${counted(compared, 'record')}, ${different} differ`
      const lines = [head, ...numbers, ...differences.map(line => `  ${line}`), ...refs.map(ref => `  ${ref}`)]
      this.log(lines.map(printable).join('\n'))
    }
    return { projects }
  }
}

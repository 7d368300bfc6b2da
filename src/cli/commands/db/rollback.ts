import { createBackup } from '../../../areas/upkeep/backup/create.js'
import type { RollbackStep } from '../../../db/schema/rollback.js'
import { planRollback } from '../../../db/schema/rollback.js'
import { refuseAtWork } from '../../appliance/require-stopped.js'
import { BaseCommand } from '../../framework/base.js'
import { confirm, destroyingFlags, offer, requireAnswer } from '../../framework/confirm.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'

export default class DbRollback extends BaseCommand {
  static override summary = 'Undo the newest migrations, with loss of the data in their tables'
  static override description =
    'Stop the appliance first: the command fails with exit code 4 while anything uses the database. It lists the tables and ' +
    'columns that will be lost, with their numbers of rows. --backup creates a backup first; at a terminal the command ' +
    'offers to do so. With --json: {rolled_back, dry_run, steps: [{migration, losses: [{table, column, rows}]}], backup}.'
  static override examples = [
    '<%= config.bin %> db rollback --dry-run',
    '<%= config.bin %> db rollback --steps 1 --backup --yes'
  ]
  static override flags = {
    steps: Flags.integer({ description: 'number of migrations to undo', default: 1, min: 1 }),
    backup: Flags.boolean({ description: 'create a backup in HOME/backups first', exclusive: ['dry-run'] }),
    ...destroyingFlags
  }

  async run() {
    const { flags } = await this.parse(DbRollback)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!flags['dry-run']) requireAnswer(how)
    if (!flags['dry-run']) await refuseAtWork.beforeDatabase()
    return withDatabase(
      async () => {
        if (!flags['dry-run']) await refuseAtWork.inDatabase()
        const steps = await planRollback(flags.steps)
        const names = steps.map(({ migration }) => migration)
        if (flags['dry-run']) {
          for (const line of linesOf(steps, 'would undo')) this.log(line)
          return { rolled_back: names, dry_run: true, steps, backup: null }
        }
        const backup = await this.backUp(steps, flags.backup, how)
        await confirm(linesOf(steps, 'to undo').join('\n'), how)
        const { migrateDown } = await import('../../../db/schema/migrate.js')
        await migrateDown(flags.steps)
        for (const line of linesOf(steps, 'undid')) this.log(line)
        return { rolled_back: names, dry_run: false, steps, backup }
      },
      { anySchema: true }
    )
  }

  private async backUp(steps: readonly RollbackStep[], wanted: boolean, how: { yes: boolean; json: boolean }) {
    const loses = steps.some(({ losses }) => losses.some(({ rows }) => rows > 0))
    const agreed = wanted || (loses && (await offer('Rows will be lost. Create a backup first?', how)))
    if (!agreed) return null
    const { id, path } = await createBackup({}, commandOrigin())
    this.log(`created backup ${id}\n${path}`)
    return id
  }
}

function linesOf(steps: readonly RollbackStep[], verb: string): string[] {
  if (steps.length === 0) return ['no migration is applied']
  return steps.flatMap(({ migration, losses }) => [
    `${verb} ${migration}`,
    ...losses.map(({ table, column, rows }) =>
      column === null ? `  table ${table}: ${rows} rows` : `  column ${table}.${column}: the values of ${rows} rows`
    )
  ])
}

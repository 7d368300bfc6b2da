import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class DbRollback extends BaseCommand {
  static override summary = 'Undo the newest migrations; the data in their tables is lost'
  static override examples = [
    '<%= config.bin %> db rollback --dry-run',
    '<%= config.bin %> db rollback --steps 1 --yes'
  ]
  static override flags = {
    steps: Flags.integer({ description: 'how many migrations to undo', default: 1, min: 1 }),
    'dry-run': Flags.boolean({ description: 'show what would be undone, and change nothing', exclusive: ['yes'] }),
    yes: Flags.boolean({ description: 'undo the migrations and lose the data' })
  }

  async run(): Promise<{ rolled_back: string[]; dry_run: boolean }> {
    const { flags } = await this.parse(DbRollback)
    this.configure(flags)
    if (!flags.yes && !flags['dry-run'])
      this.error('this destroys data: add --yes to do it, or --dry-run to see what it would undo', { exit: 2 })
    const { withDatabase } = await import('../../with-database.js')
    const { migrateDown, migrationStates } = await import('../../../db/migrate.js')
    const names = await withDatabase(
      async () => {
        if (flags.yes) return migrateDown(flags.steps)
        const applied = (await migrationStates()).filter(({ applied_at }) => applied_at !== null)
        return applied
          .map(({ name }) => name)
          .reverse()
          .slice(0, flags.steps)
      },
      { anySchema: true }
    )
    for (const name of names) this.log(`${flags.yes ? 'undid' : 'would undo'} ${name}`)
    return { rolled_back: names, dry_run: !flags.yes }
  }
}

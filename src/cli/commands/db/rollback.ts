import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class DbRollback extends BaseCommand {
  static override summary = 'Take the newest migrations back, with the data in their tables'
  static override examples = [
    '<%= config.bin %> db rollback --dry-run',
    '<%= config.bin %> db rollback --steps 1 --yes'
  ]
  static override flags = {
    steps: Flags.integer({ description: 'how many migrations', default: 1, min: 1 }),
    'dry-run': Flags.boolean({ description: 'only tell what would be taken back', exclusive: ['yes'] }),
    yes: Flags.boolean({ description: 'do it: data is lost' })
  }

  async run(): Promise<{ rolled_back: string[]; dry_run: boolean }> {
    const { flags } = await this.parse(DbRollback)
    this.configure(flags)
    if (!flags.yes && !flags['dry-run'])
      this.error('this destroys data: add --yes, or look with --dry-run', { exit: 2 })
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
    for (const name of names) this.log(`${flags.yes ? 'took back' : 'would take back'} ${name}`)
    return { rolled_back: names, dry_run: !flags.yes }
  }
}

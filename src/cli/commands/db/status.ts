import { migrationStates } from '../../../db/schema/migrate.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'

export default class DbStatus extends BaseCommand {
  static override summary = 'Show which migrations are applied'
  static override examples = ['<%= config.bin %> db status', '<%= config.bin %> db status --json']

  async run() {
    const { flags } = await this.parse(DbStatus)
    this.configure(flags)
    const migrations = await withDatabase(migrationStates, { anySchema: true })
    for (const { name, applied_at, half_undone } of migrations) {
      this.log(`${name}  ${applied_at?.toISOString() ?? (half_undone ? 'half undone' : 'pending')}`)
    }
    return { migrations }
  }
}

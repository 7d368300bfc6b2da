import { requireKey } from '../../../areas/ground/settings/encryption-key.js'
import { migrateUp } from '../../../db/schema/migrate.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'

export default class DbMigrate extends BaseCommand {
  static override summary = 'Update the database schema; running it twice at the same time is safe'
  static override examples = ['<%= config.bin %> db migrate', '<%= config.bin %> db migrate --json']

  async run(): Promise<{ applied: string[] }> {
    const { flags } = await this.parse(DbMigrate)
    this.configure(flags)
    const applied = await withDatabase(
      async () => {
        const names = await migrateUp()
        await requireKey({ makes: true })
        return names
      },
      { anySchema: true, makes: true }
    )
    for (const name of applied) this.log(`applied ${name}`)
    if (applied.length === 0) this.log('the schema is up to date')
    return { applied }
  }
}

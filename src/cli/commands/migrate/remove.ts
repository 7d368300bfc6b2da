import { findMigration, removeMigration } from '../../../areas/migrate/runs/migrations.js'
import { BaseCommand } from '../../framework/base.js'
import { confirm, destroyingFlags } from '../../framework/confirm.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { migrationArgs } from '../../topics/migrations.js'

export default class MigrateRemove extends BaseCommand {
  static override summary = 'Remove a migration with its token and what it has read'
  static override description =
    'The projects that came stay, and so do placeholders. A new migration of the same forge knows them again. With --json: {removed}, or with --dry-run {would_remove}.'
  static override examples = [
    '<%= config.bin %> migrate remove old --dry-run',
    '<%= config.bin %> migrate remove old --yes'
  ]
  static override args = migrationArgs
  static override flags = { ...destroyingFlags }

  async run() {
    const { args, flags } = await this.parse(MigrateRemove)
    this.configure(flags)
    const migration = await withDatabase(() => findMigration(args.name))
    const { name } = migration
    if (flags['dry-run']) {
      this.log(`would remove the migration ${name}`)
      return { would_remove: name }
    }
    await confirm(`This removes the token of the migration ${name}, and what was read.`, {
      yes: flags.yes,
      json: this.jsonEnabled()
    })
    await withDatabase(() => removeMigration(migration, commandOrigin()))
    this.log(`removed the migration ${name}`)
    return { removed: name }
  }
}

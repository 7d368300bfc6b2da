import { listMigrations, type Migration } from '../../../areas/migrate/runs/migrations.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { type Column, table } from '../../output/table.js'

const COLUMNS: readonly Column<Pick<Migration, 'name' | 'kind' | 'url' | 'created_at'>>[] = [
  ['NAME', each => each.name],
  ['KIND', each => each.kind],
  ['URL', each => each.url],
  ['CREATED', each => each.created_at]
]

export default class MigrateList extends BaseCommand {
  static override summary = 'List the prepared migrations'
  static override description = 'With --json: {migrations}, each with name, kind, url and created_at.'
  static override examples = ['<%= config.bin %> migrate list', '<%= config.bin %> migrate list --json']

  async run() {
    const { flags } = await this.parse(MigrateList)
    this.configure(flags)
    const found = await withDatabase(listMigrations)
    const migrations = found.map(({ name, kind, url, created_at }) => ({ name, kind, url, created_at }))
    this.log(table(migrations, COLUMNS))
    return { migrations }
  }
}

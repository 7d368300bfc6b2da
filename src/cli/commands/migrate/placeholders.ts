import { findMigration } from '../../../areas/migrate/runs/migrations.js'
import { listPlaceholders, type Placeholder } from '../../../areas/migrate/runs/placeholders.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'
import { type Column, table } from '../../output/table.js'

const COLUMNS: readonly Column<Placeholder>[] = [
  ['USERNAME', each => each.username],
  ['NAME', each => each.name],
  ['SOURCE', each => each.source],
  ['THERE', each => each.source_username],
  ['EMAIL', each => each.email]
]

export default class MigratePlaceholders extends BaseCommand {
  static override summary = 'List the people of other forges who have no user here'
  static override description =
    'Nobody can sign in as a placeholder. See `migrate assign`. EMAIL is the address that the forge has verified. With --json: {placeholders}.'
  static override examples = [
    '<%= config.bin %> migrate placeholders old',
    '<%= config.bin %> migrate placeholders --json'
  ]
  static override args = {
    name: Args.string({ description: 'the name of a migration: only people of its forge (default: of all forges)' })
  }
  static override flags = {
    limit: Flags.integer({ default: 1000, min: 1, max: 10_000, description: 'how many to show' })
  }

  async run() {
    const { args, flags } = await this.parse(MigratePlaceholders)
    this.configure(flags)
    const placeholders = await withDatabase(async () =>
      listPlaceholders(args.name === undefined ? undefined : await findMigration(args.name), flags.limit)
    )
    this.log(table(placeholders, COLUMNS))
    return { placeholders }
  }
}

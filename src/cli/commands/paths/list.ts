import { listReservedPaths } from '../../../areas/ground/paths/reserved.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { table } from '../../output/table.js'

export default class PathsList extends BaseCommand {
  static override summary = 'List the reserved old paths of groups and users'
  static override description =
    'They lead to the group or user that had them, and nobody else may take them before the date. With --json: {paths}, each with path, leads_to, kind, reserved_until.'
  static override examples = ['<%= config.bin %> paths list', '<%= config.bin %> paths list --json']

  async run() {
    const { flags } = await this.parse(PathsList)
    this.configure(flags)
    const paths = await withDatabase(listReservedPaths)
    this.log(
      table(paths, [
        ['PATH', ({ path }) => path],
        ['LEADS TO', ({ leads_to }) => leads_to],
        ['KIND', ({ kind }) => kind],
        ['RESERVED UNTIL', ({ reserved_until: until }) => until.toISOString().slice(0, 10)]
      ])
    )
    return { paths }
  }
}

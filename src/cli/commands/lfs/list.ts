import { countUnused } from '../../../areas/projects/lfs/unused.js'
import { listLfsUsage } from '../../../areas/projects/lfs/usage.js'
import { config } from '../../../config.js'
import { bytesText } from '../../../lib/bytes.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Args, Flags } from '../../oclif.js'
import { table } from '../../output/table.js'

export default class LfsList extends BaseCommand {
  static override summary = 'List what projects have in git LFS, those with the most bytes first'
  static override description =
    'HELD is what only merge requests from forks hold; it does not count for LIMIT (`lfs.max_project_size`). With --json: {projects, total, unused}, each project with project, project_id, objects, bytes, held_bytes, limit_bytes; `unused` counts objects that no project has.'
  static override examples = ['<%= config.bin %> lfs list', '<%= config.bin %> lfs list ada/engine --json']
  static override args = {
    project: Args.string({ description: 'only this project: NAMESPACE/PROJECT or number' })
  }
  static override flags = {
    limit: Flags.integer({ default: 100, min: 1, max: 10_000, description: 'show at most this many projects' })
  }

  async run() {
    const { args, flags } = await this.parse(LfsList)
    this.configure(flags)
    const { items, total, unused } = await withDatabase(async () => {
      const id = args.project === undefined ? undefined : (await requireNamedProject(args.project)).id
      return { ...(await listLfsUsage(id, flags.limit)), unused: await countUnused(new Date()) }
    })
    const limit = config().lfs.max_project_size
    this.log(
      table(items, [
        ['PROJECT', ({ project }) => project],
        ['OBJECTS', ({ objects }) => objects],
        ['SIZE', ({ bytes }) => bytesText(bytes)],
        ['LIMIT', () => bytesText(limit)],
        ['HELD', ({ held_bytes: held }) => bytesText(held)]
      ])
    )
    if (unused.objects > 0) this.log(`no project has ${unused.objects} objects of ${bytesText(unused.bytes)}`)
    if (total > items.length) this.logToStderr(`${items.length} of ${total} projects: raise --limit to see more`)
    return { projects: items.map(item => ({ ...item, limit_bytes: limit })), total, unused }
  }
}

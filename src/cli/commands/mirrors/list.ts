import { stateOf } from '../../../areas/code/mirrors/mirror-state.js'
import { listMirrors } from '../../../areas/code/mirrors/mirrors.queries.js'
import { viewMirror } from '../../../areas/code/mirrors/mirrors.view.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Args, Flags } from '../../oclif.js'
import { table } from '../../output/table.js'

export default class MirrorsList extends BaseCommand {
  static override summary = 'List mirrors, oldest first'
  static override description = 'With --json: {mirrors, total}, each mirror as in `mirrors show`.'
  static override examples = ['<%= config.bin %> mirrors list', '<%= config.bin %> mirrors list ada/engine --json']
  static override args = {
    project: Args.string({ description: 'only mirrors of this project: NAMESPACE/PROJECT or number' })
  }
  static override flags = {
    limit: Flags.integer({ default: 100, min: 1, max: 10_000, description: 'show at most this many mirrors' })
  }

  async run() {
    const { args, flags } = await this.parse(MirrorsList)
    this.configure(flags)
    const { items, total } = await withDatabase(async () => {
      const id = args.project === undefined ? undefined : (await requireNamedProject(args.project)).id
      return listMirrors(id, flags.limit)
    })
    this.log(
      table(items, [
        ['ID', mirror => mirror.id],
        ['PROJECT', mirror => mirror.project],
        ['DIRECTION', mirror => mirror.direction],
        ['URL', mirror => mirror.url],
        ['STATE', stateOf],
        ['LAST', mirror => mirror.finished_at],
        ['NEXT', mirror => viewMirror(mirror).next_attempt_at],
        ['ERROR', mirror => mirror.error]
      ])
    )
    if (total > items.length) this.logToStderr(`${items.length} of ${total} mirrors: raise --limit to see more`)
    return { mirrors: items.map(viewMirror), total }
  }
}

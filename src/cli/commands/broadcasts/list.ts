import { BaseCommand } from '../../base.js'
import { allFlag } from '../../list-all.js'
import { Flags } from '../../oclif.js'

export default class BroadcastsList extends BaseCommand {
  static override summary = 'List broadcast messages'
  static override description = 'With --json: {broadcasts, total}; total counts all pages.'
  static override examples = ['<%= config.bin %> broadcasts list --active', '<%= config.bin %> broadcasts list --json']
  static override flags = {
    active: Flags.boolean({ description: 'only messages that are shown now' }),
    limit: Flags.integer({ default: 50, min: 1, max: 100, description: 'messages on a page' }),
    page: Flags.integer({ default: 1, min: 1, max: 100_000, description: 'the number of the page, from 1' }),
    ...allFlag(['limit', 'page'])
  }

  async run() {
    const { flags } = await this.parse(BroadcastsList)
    this.configure(flags)
    const [{ withDatabase }, { broadcastsAfter, listBroadcasts }, { viewBroadcast }, lines] = await Promise.all([
      import('../../with-database.js'),
      import('../../../areas/broadcasts/broadcasts.queries.js'),
      import('../../../areas/broadcasts/broadcasts.view.js'),
      import('../../broadcast-lines.js')
    ])
    if (flags.all) {
      const { printAll } = await import('../../list-all.js')
      return withDatabase(() =>
        printAll({
          name: 'broadcasts',
          json: this.jsonEnabled(),
          columns: lines.BROADCAST_COLUMNS,
          view: () => message => message,
          part: async (last = 0) => (await broadcastsAfter(flags.active === true, last)).map(row => viewBroadcast(row)),
          idOf: ({ id }) => id
        })
      )
    }
    const query = { active: flags.active, per_page: flags.limit, page: flags.page }
    const { items, total } = await withDatabase(() => listBroadcasts(query))
    const broadcasts = items.map(message => viewBroadcast(message))
    this.log(lines.broadcastTable(broadcasts))
    if (total > broadcasts.length)
      this.log(`${broadcasts.length} of ${total}: use --page, --limit or --all to see more`)
    return { broadcasts, total }
  }
}

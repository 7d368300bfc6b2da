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
    const [{ withDatabase }, { broadcastsAfter, listBroadcasts }, { viewBroadcast }, { BROADCAST_COLUMNS }] =
      await Promise.all([
        import('../../with-database.js'),
        import('../../../areas/broadcasts/broadcasts.queries.js'),
        import('../../../areas/broadcasts/broadcasts.view.js'),
        import('../../broadcast-lines.js')
      ])
    const { printList } = await import('../../list-all.js')
    const query = { active: flags.active, per_page: flags.limit, page: flags.page }
    return withDatabase(() =>
      printList({
        name: 'broadcasts',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: BROADCAST_COLUMNS,
        view: () => message => message,
        first: async () => {
          const { items, total } = await listBroadcasts(query)
          return { items: items.map(row => viewBroadcast(row)), total }
        },
        part: async (last = 0) => (await broadcastsAfter(flags.active === true, last)).map(row => viewBroadcast(row)),
        idOf: ({ id }) => id,
        hint: 'use --page, --limit or --all to see more'
      })
    )
  }
}

import { broadcastsAfter, listBroadcasts } from '../../../areas/reach/broadcasts/broadcasts.queries.js'
import { viewBroadcast } from '../../../areas/reach/broadcasts/broadcasts.view.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'
import { BROADCAST_COLUMNS } from '../../output/broadcast-lines.js'

export default class BroadcastsList extends BaseCommand {
  static override summary = 'List broadcast messages'
  static override description = 'With --json: {broadcasts, total}; total counts all pages.'
  static override examples = ['<%= config.bin %> broadcasts list --active', '<%= config.bin %> broadcasts list --json']
  static override flags = {
    active: Flags.boolean({ description: 'only messages that are currently shown' }),
    limit: Flags.integer({ default: 50, min: 1, max: 100, description: 'messages on a page' }),
    page: Flags.integer({ default: 1, min: 1, max: 100_000, description: 'the number of the page, from 1' }),
    ...allFlag(['limit', 'page'])
  }

  async run() {
    const { flags } = await this.parse(BroadcastsList)
    this.configure(flags)
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

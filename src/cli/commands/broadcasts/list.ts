import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class BroadcastsList extends BaseCommand {
  static override summary = 'List broadcast messages'
  static override description = 'With --json: {broadcasts, total}; total counts all pages.'
  static override examples = ['<%= config.bin %> broadcasts list --active', '<%= config.bin %> broadcasts list --json']
  static override flags = {
    active: Flags.boolean({ description: 'only messages that are shown now' }),
    limit: Flags.integer({ default: 50, min: 1, max: 100, description: 'messages on a page' }),
    page: Flags.integer({ default: 1, min: 1, max: 100_000, description: 'the number of the page, from 1' })
  }

  async run() {
    const { flags } = await this.parse(BroadcastsList)
    this.configure(flags)
    const [{ withDatabase }, { listBroadcasts }, { viewBroadcast }, { broadcastTable }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../areas/broadcasts/broadcasts.queries.js'),
      import('../../../areas/broadcasts/broadcasts.view.js'),
      import('../../broadcast-lines.js')
    ])
    const query = { active: flags.active, per_page: flags.limit, page: flags.page }
    const { items, total } = await withDatabase(() => listBroadcasts(query))
    const broadcasts = items.map(message => viewBroadcast(message))
    this.log(broadcastTable(broadcasts))
    if (total > broadcasts.length) this.log(`${broadcasts.length} of ${total}: use --page or --limit to see more`)
    return { broadcasts, total }
  }
}

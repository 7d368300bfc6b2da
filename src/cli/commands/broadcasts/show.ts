import { BaseCommand } from '../../base.js'
import { recordNumber } from '../../record-number.js'

export default class BroadcastsShow extends BaseCommand {
  static override summary = 'Show a broadcast message'
  static override description = 'With --json: the message in the form of GET /broadcast_messages/:id.'
  static override examples = ['<%= config.bin %> broadcasts show 3', '<%= config.bin %> broadcasts show 3 --json']
  static override args = { id: recordNumber('number of the message') }

  async run() {
    const { flags, args } = await this.parse(BroadcastsShow)
    this.configure(flags)
    const [{ withDatabase }, { requireBroadcast }, { viewBroadcast }, { broadcastTable }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../areas/broadcasts/broadcasts.queries.js'),
      import('../../../areas/broadcasts/broadcasts.view.js'),
      import('../../broadcast-lines.js')
    ])
    const found = await withDatabase(() => requireBroadcast(args.id, `Broadcast message ${args.id}`))
    const message = viewBroadcast(found)
    this.log(broadcastTable([message]))
    return message
  }
}

import { requireBroadcast } from '../../../areas/reach/broadcasts/broadcasts.queries.js'
import { viewBroadcast } from '../../../areas/reach/broadcasts/broadcasts.view.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'
import { broadcastTable } from '../../output/broadcast-lines.js'

export default class BroadcastsShow extends BaseCommand {
  static override summary = 'Show a broadcast message'
  static override description = 'With --json: the message as in GET /broadcast_messages/:id.'
  static override examples = ['<%= config.bin %> broadcasts show 3', '<%= config.bin %> broadcasts show 3 --json']
  static override strict = false
  static override args = { id: recordNumbers('number of the message') }

  async run() {
    const { flags, argv } = await this.parse(BroadcastsShow)
    this.configure(flags)
    const show = async (id: number) => {
      const message = viewBroadcast(await orNotFound('broadcast message', id, () => requireBroadcast(id)))
      this.log(broadcastTable([message]))
      return message
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), show))
  }
}

import * as rules from '../../../areas/reach/broadcasts/broadcasts.js'
import { requireBroadcast } from '../../../areas/reach/broadcasts/broadcasts.queries.js'
import { viewBroadcast } from '../../../areas/reach/broadcasts/broadcasts.view.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumber } from '../../input/record-number.js'
import { Flags } from '../../oclif.js'
import * as lines from '../../output/broadcast-lines.js'
import { broadcastFlags, broadcastOf } from '../../topics/broadcast-flags.js'

export default class BroadcastsUpdate extends BaseCommand {
  static override summary = 'Change a broadcast message'
  static override description = 'With --json: the message as in GET /broadcast_messages/:id.'
  static override examples = [
    '<%= config.bin %> broadcasts update 3 --ends-in 30m',
    '<%= config.bin %> broadcasts update 3 --message "Back at 23:00" --color "#b71c1c" --json'
  ]
  static override args = { id: recordNumber('number of the message') }
  static override flags = { message: Flags.string({ description: 'the text of the message' }), ...broadcastFlags }

  async run() {
    const { flags, args } = await this.parse(BroadcastsUpdate)
    this.configure(flags)
    const body = { ...(flags.message === undefined ? {} : { message: flags.message }), ...broadcastOf(flags) }
    if (Object.keys(body).length === 0)
      this.error('specify at least one change, such as --message or --ends-in', { exit: 2 })
    const message = await withDatabase(async () => {
      await orNotFound('broadcast message', args.id, () => requireBroadcast(args.id))
      return viewBroadcast(await rules.updateBroadcast(args.id, body, commandOrigin()))
    })
    this.log(lines.broadcastTable([message]))
    return message
  }
}

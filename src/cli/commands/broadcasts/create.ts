import { createBroadcast } from '../../../areas/reach/broadcasts/broadcasts.js'
import { viewBroadcast } from '../../../areas/reach/broadcasts/broadcasts.view.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import * as lines from '../../output/broadcast-lines.js'
import { broadcastFlags, newBroadcastOf } from '../../topics/broadcast-flags.js'

export default class BroadcastsCreate extends BaseCommand {
  static override summary = 'Create a broadcast message, which the sign-in page shows to everyone'
  static override description =
    'By default, the message starts now and ends one hour after its start. With --json: the message as in GET /broadcast_messages/:id.'
  static override examples = [
    '<%= config.bin %> broadcasts create "Down for an upgrade from 20:00" --ends-in 2h',
    '<%= config.bin %> broadcasts create "New: runners for everybody" --starts-at 2026-12-01 --ends-at 2026-12-08 --color "#2e7d32" --json'
  ]
  static override args = { message: Args.string({ required: true, description: 'the text of the message' }) }
  static override flags = broadcastFlags

  async run() {
    const { flags, args } = await this.parse(BroadcastsCreate)
    this.configure(flags)
    const body = { message: args.message, ...newBroadcastOf(flags) }
    const message = viewBroadcast(await withDatabase(() => createBroadcast(body, commandOrigin()), { makes: true }))
    this.log(lines.broadcastTable([message]))
    return message
  }
}

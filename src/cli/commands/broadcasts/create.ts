import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'
import { broadcastFlags, newBroadcastOf } from '../../broadcast-flags.js'

export default class BroadcastsCreate extends BaseCommand {
  static override summary = 'Show everybody a message, on the sign-in page, from now or later'
  static override description =
    'It starts now and ends an hour after its start, unless the flags say otherwise. With --json: the message as GET /broadcast_messages/:id has it.'
  static override examples = [
    '<%= config.bin %> broadcasts create "Down for an upgrade from 20:00" --ends-in 2h',
    '<%= config.bin %> broadcasts create "New: runners for everybody" --starts-at 2026-12-01 --ends-at 2026-12-08 --color "#2e7d32" --json'
  ]
  static override args = { message: Args.string({ required: true, description: 'the text' }) }
  static override flags = broadcastFlags

  async run() {
    const { flags, args } = await this.parse(BroadcastsCreate)
    this.configure(flags)
    const [{ withDatabase }, { commandOrigin }, { createBroadcast }, { viewBroadcast }, lines] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/broadcasts/broadcasts.js'),
      import('../../../areas/broadcasts/broadcasts.view.js'),
      import('../../broadcast-lines.js')
    ])
    const body = { message: args.message, ...newBroadcastOf(flags) }
    const message = viewBroadcast(await withDatabase(() => createBroadcast(body, commandOrigin())))
    this.log(lines.broadcastTable([message]))
    return message
  }
}

import { BaseCommand } from '../../base.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class BroadcastsShow extends BaseCommand {
  static override summary = 'Show a broadcast message'
  static override description = 'With --json: the message in the form of GET /broadcast_messages/:id.'
  static override examples = ['<%= config.bin %> broadcasts show 3', '<%= config.bin %> broadcasts show 3 --json']
  static override strict = false
  static override args = { id: recordNumbers('number of the message') }

  async run() {
    const { flags, argv } = await this.parse(BroadcastsShow)
    this.configure(flags)
    const [{ asked }, { doEach }, { withDatabase }, { requireBroadcast }, { viewBroadcast }, { broadcastTable }] =
      await Promise.all([
        import('../../asked.js'),
        import('../../each.js'),
        import('../../with-database.js'),
        import('../../../areas/broadcasts/broadcasts.queries.js'),
        import('../../../areas/broadcasts/broadcasts.view.js'),
        import('../../broadcast-lines.js')
      ])
    const show = async (id: number) => {
      const message = viewBroadcast(await asked('broadcast message', id, () => requireBroadcast(id)))
      this.log(broadcastTable([message]))
      return message
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), show))
  }
}

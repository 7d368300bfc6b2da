import type { BroadcastRow } from '../../../areas/broadcasts/broadcasts.queries.js'
import { DestroyingCommand, type RecordDestruction } from '../../destroying-command.js'
import { recordNumbers } from '../../record-number.js'

export default class BroadcastsDelete extends DestroyingCommand<BroadcastRow> {
  static override summary = 'Delete a broadcast message'
  static override description = 'With --json: {deleted}, or with --dry-run {would_delete}: the message.'
  static override examples = [
    '<%= config.bin %> broadcasts delete 3 --dry-run',
    '<%= config.bin %> broadcasts delete 3 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the message') }

  protected async destruction(): Promise<RecordDestruction<BroadcastRow>> {
    const [{ requireBroadcast }, { deleteBroadcast }, { viewBroadcast }] = await Promise.all([
      import('../../../areas/broadcasts/broadcasts.queries.js'),
      import('../../../areas/broadcasts/broadcasts.js'),
      import('../../../areas/broadcasts/broadcasts.view.js')
    ])
    return {
      kind: 'broadcast message',
      verb: 'delete',
      find: requireBroadcast,
      nameOf: ({ id }) => `broadcast message ${id}`,
      destroy: ({ id }, origin) => deleteBroadcast(id, origin),
      view: viewBroadcast
    }
  }
}

import { deleteBroadcast } from '../../../areas/reach/broadcasts/broadcasts.js'
import type { BroadcastRow } from '../../../areas/reach/broadcasts/broadcasts.queries.js'
import { requireBroadcast } from '../../../areas/reach/broadcasts/broadcasts.queries.js'
import { viewBroadcast } from '../../../areas/reach/broadcasts/broadcasts.view.js'
import { DestroyingCommand, type RecordDestruction } from '../../framework/destroying-command.js'
import { recordNumbers } from '../../input/record-number.js'

export default class BroadcastsDelete extends DestroyingCommand<BroadcastRow> {
  static override summary = 'Delete a broadcast message'
  static override description = 'With --json: {deleted}, or with --dry-run {would_delete}: the message.'
  static override examples = [
    '<%= config.bin %> broadcasts delete 3 --dry-run',
    '<%= config.bin %> broadcasts delete 3 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the message') }

  protected override readonly destruction: RecordDestruction<BroadcastRow> = {
    kind: 'broadcast message',
    verb: 'delete',
    find: requireBroadcast,
    nameOf: ({ id }) => `broadcast message ${id}`,
    destroy: ({ id }, origin) => deleteBroadcast(id, origin),
    view: viewBroadcast
  }
}

import { deleteHook, findHook } from '../../../areas/ground/hooks/hooks.js'
import { hookHealth } from '../../../areas/ground/hooks/hooks.queries.js'
import type { ListedHook } from '../../../areas/ground/hooks/hooks.view.js'
import { viewListedHook } from '../../../areas/ground/hooks/hooks.view.js'
import { DestroyingCommand, type RecordDestruction } from '../../framework/destroying-command.js'
import { recordNumbers } from '../../input/record-number.js'

export default class HooksRemove extends DestroyingCommand<ListedHook> {
  static override summary = 'Remove a system hook and cancel its waiting deliveries'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the hook as in `hooks show`, with pending_deliveries.'
  static override examples = [
    '<%= config.bin %> hooks remove 3 --dry-run',
    '<%= config.bin %> hooks remove 3 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the hook') }

  protected override readonly destruction: RecordDestruction<ListedHook> = {
    kind: 'hook',
    verb: 'remove',
    recordVerb: 'delete',
    find: async id => viewListedHook(await findHook(id), await hookHealth(id)),
    nameOf: ({ id, url, pending_deliveries: waiting }) => `hook ${id} (${url}) with ${waiting} waiting deliveries`,
    destroy: async (hook, origin) => {
      await deleteHook(hook.id, origin)
      return hook
    },
    view: hook => hook
  }
}

import type { ListedHook } from '../../../areas/hooks/hooks.view.js'
import { DestroyingCommand, type RecordDestruction } from '../../destroying-command.js'
import { recordNumbers } from '../../record-number.js'

export default class HooksRemove extends DestroyingCommand<ListedHook> {
  static override summary = 'Remove a system hook; its waiting deliveries are not sent any more'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the hook in the form of `hooks show`, with pending_deliveries.'
  static override examples = [
    '<%= config.bin %> hooks remove 3 --dry-run',
    '<%= config.bin %> hooks remove 3 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the hook') }

  protected async destruction(): Promise<RecordDestruction<ListedHook>> {
    const [{ deleteHook, findHook }, { hookHealth }, { viewListedHook }] = await Promise.all([
      import('../../../areas/hooks/hooks.js'),
      import('../../../areas/hooks/hooks.queries.js'),
      import('../../../areas/hooks/hooks.view.js')
    ])
    return {
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
}

import { deleteKey } from '../../../areas/people/users/keys.js'
import type { OwnedKeyRow } from '../../../areas/people/users/keys.queries.js'
import { requireAnyKey } from '../../../areas/people/users/keys.queries.js'
import { viewKeyInList } from '../../../areas/people/users/keys.view.js'
import { NotFound } from '../../../errors.js'
import { DestroyingCommand, type RecordDestruction } from '../../framework/destroying-command.js'
import { recordNumbers } from '../../input/record-number.js'

export default class KeysRemove extends DestroyingCommand<OwnedKeyRow> {
  static override summary = 'Remove an SSH key from its user'
  static override description = 'With --json: {deleted}, or with --dry-run {would_delete}: the key as in `keys list`.'
  static override examples = [
    '<%= config.bin %> keys remove 17 --dry-run',
    '<%= config.bin %> keys remove 17 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the key, as `keys list` shows it') }

  protected override readonly destruction: RecordDestruction<OwnedKeyRow> = {
    kind: 'key',
    verb: 'remove',
    recordVerb: 'delete',
    find: requireAnyKey,
    nameOf: ({ id, title, username }) => `key ${id} (${JSON.stringify(title)} of ${username})`,
    destroy: async (key, origin) => {
      if (!(await deleteKey({ id: key.user_id, username: key.username }, key.id, origin))) throw new NotFound('Key')
      return key
    },
    view: viewKeyInList
  }
}

import { deleteEmail } from '../../../areas/people/users/emails.js'
import type { OwnedEmailRow } from '../../../areas/people/users/emails.queries.js'
import { requireAnyEmail } from '../../../areas/people/users/emails.queries.js'
import { viewEmail } from '../../../areas/people/users/emails.view.js'
import { DestroyingCommand, type RecordDestruction } from '../../framework/destroying-command.js'
import { recordNumbers } from '../../input/record-number.js'

export default class EmailsRemove extends DestroyingCommand<OwnedEmailRow> {
  static override summary = 'Remove an additional mail address from its user'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the address as the API shows it.'
  static override examples = [
    '<%= config.bin %> emails remove 17 --dry-run',
    '<%= config.bin %> emails remove 17 --yes --json'
  ]
  static override args = { id: recordNumbers('number of the address, as `emails list` shows it') }

  protected override readonly destruction: RecordDestruction<OwnedEmailRow> = {
    kind: 'address',
    verb: 'remove',
    recordVerb: 'delete',
    find: requireAnyEmail,
    nameOf: ({ id, email, username }) => `address ${id} of ${username}: ${email}`,
    destroy: async (email, origin) => {
      await deleteEmail({ id: email.user_id, username: email.username }, email.id, origin)
      return email
    },
    view: viewEmail
  }
}

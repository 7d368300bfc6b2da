import type { OwnedKeyRow as Row } from '../../../areas/people/users/keys.queries.js'
import { keysBefore, listAllKeys } from '../../../areas/people/users/keys.queries.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'

const COLUMNS: readonly Column<Row>[] = [
  ['ID', key => key.id],
  ['USER', key => key.username],
  ['TITLE', key => key.title],
  ['KIND', key => key.public_key.split(' ', 1)[0] ?? ''],
  ['FINGERPRINT', key => `SHA256:${key.fingerprint}`],
  ['LAST USED', key => key.last_used_at],
  ['CREATED', key => key.created_at]
]

export default class KeysList extends BaseCommand {
  static override summary = 'List SSH keys, newest first'
  static override description =
    'With --json: {keys, total}, each with id, title, key, created_at, can_push, and also fingerprint (as `ssh-keygen -l` prints it), last_used_at, user_id and username; total also counts the keys beyond --limit.'
  static override examples = ['<%= config.bin %> keys list', '<%= config.bin %> keys list --user ada --json']
  static override flags = {
    user: Flags.string({ description: 'only keys of this user: username, mail address or number' }),
    limit: Flags.integer({ default: 100, min: 1, max: 10_000, description: 'show at most this many keys' }),
    ...allFlag()
  }

  async run() {
    const { flags } = await this.parse(KeysList)
    this.configure(flags)
    return withDatabase(async () => {
      const userId = flags.user === undefined ? undefined : (await requireUser(flags.user)).id
      return printList({
        name: 'keys',
        all: flags.all,
        json: this.jsonEnabled(),
        columns: COLUMNS,
        view: async () => (await import('../../../areas/people/users/keys.view.js')).viewKeyInList,
        first: () => listAllKeys({ userId, limit: flags.limit }),
        part: (last = Number.MAX_SAFE_INTEGER) => keysBefore(userId, last),
        idOf: ({ id }) => id
      })
    })
  }
}

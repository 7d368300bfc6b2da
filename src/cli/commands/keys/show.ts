import { requireAnyKey } from '../../../areas/people/users/keys.queries.js'
import { viewKeyWithUser } from '../../../areas/people/users/keys.view.js'
import { findUser } from '../../../areas/people/users/users.queries.js'
import { NotFound } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'
import { fields } from '../../output/table.js'

export default class KeysShow extends BaseCommand {
  static override summary = 'Show an SSH key and its user'
  static override description = 'With --json: the key with its user as in GET /keys/:id.'
  static override examples = ['<%= config.bin %> keys show 17', '<%= config.bin %> keys show 17 --json']
  static override strict = false
  static override args = { id: recordNumbers('number of the key, as `keys list` shows it') }

  async run() {
    const { flags, argv } = await this.parse(KeysShow)
    this.configure(flags)
    const show = async (id: number) => {
      const key = await orNotFound('key', id, () => requireAnyKey(id))
      const user = await findUser(key.user_id)
      if (!user) throw new NotFound('User')
      this.log(
        fields({
          id: key.id,
          user: key.username,
          title: key.title,
          fingerprint: `SHA256:${key.fingerprint}`,
          created_at: key.created_at,
          last_used_at: key.last_used_at,
          key: key.public_key
        })
      )
      return viewKeyWithUser(key, user)
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), show))
  }
}

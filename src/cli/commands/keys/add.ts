import { addKey } from '../../../areas/people/users/keys.js'
import { viewKey } from '../../../areas/people/users/keys.view.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { readText } from '../../input/read-text.js'
import { Flags } from '../../oclif.js'

export default class KeysAdd extends BaseCommand {
  static override summary = 'Add an SSH key to a user, from standard input or a file'
  static override description =
    'Accepts public keys of the kinds ssh-ed25519, ecdsa-sha2-nistp256, -384 or -521, and ssh-rsa with at least 2048 bits. With --json: the key as the API shows it.'
  static override examples = [
    '<%= config.bin %> keys add --user ada --title laptop < id_ed25519.pub',
    '<%= config.bin %> keys add --user ada --title laptop --file ~/.ssh/id_ed25519.pub --json'
  ]
  static override flags = {
    user: Flags.string({ required: true, description: 'the user: username, mail address or number' }),
    title: Flags.string({ required: true, description: 'a name for the key' }),
    file: Flags.file({ description: 'read the key from a file' })
  }

  async run() {
    const { flags } = await this.parse(KeysAdd)
    this.configure(flags)
    const text = await readText('key', flags.file)
    const [user, key] = await withDatabase(async () => {
      const owner = await requireUser(flags.user)
      return [owner, await addKey(owner, { title: flags.title, key: text }, commandOrigin())] as const
    })
    this.log(`added key ${key.id} of ${user.username} (SHA256:${key.fingerprint})`)
    return viewKey(key)
  }
}

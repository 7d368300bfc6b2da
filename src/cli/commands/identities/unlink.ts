import { unlinkIdentity } from '../../../areas/people/identity/links.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'

export default class IdentitiesUnlink extends BaseCommand {
  static override summary = 'Take the account at a provider or in a directory from a user'
  static override description =
    'The memberships that the provider gave end. Sessions continue: `users block` ends them. `identities link` links the account again. With --json: {user, provider, extern_uid}.'
  static override examples = [
    '<%= config.bin %> identities unlink ada company',
    '<%= config.bin %> identities unlink ada@example.org directory --json'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'the user: username, mail address or number' }),
    provider: Args.string({ required: true, description: 'the provider, as `identities list` shows it' })
  }

  async run() {
    const { args, flags } = await this.parse(IdentitiesUnlink)
    this.configure(flags)
    const { provider } = args
    const [user, uid] = await withDatabase(async () => {
      const found = await requireUser(args.user)
      return [found.username, await unlinkIdentity(found, provider, commandOrigin())] as const
    })
    this.log(`unlinked ${user} from ${uid} at ${provider}`)
    return { user, provider, extern_uid: uid }
  }
}

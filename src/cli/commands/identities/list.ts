import { type IdentityRow, identitiesAfter, identitiesOf } from '../../../areas/people/identity/links.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { printAll } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'

export default class IdentitiesList extends BaseCommand {
  static override summary = 'List the identities of users: their accounts at providers and in directories'
  static override description = 'With --json: {identities: [{user, provider, extern_uid}], total}.'
  static override examples = ['<%= config.bin %> identities list', '<%= config.bin %> identities list ada --json']
  static override args = {
    user: Args.string({ description: 'the user: username, mail address or number; without it, all users' })
  }

  async run() {
    const { args, flags } = await this.parse(IdentitiesList)
    this.configure(flags)
    const name = args.user
    return withDatabase(async () => {
      const owner = name === undefined ? null : await requireUser(name)
      return printAll<IdentityRow>({
        name: 'identities',
        json: this.jsonEnabled(),
        columns: [
          ['USER', ({ username }) => username],
          ['PROVIDER', ({ provider }) => provider],
          ['ID THERE', ({ extern_uid }) => extern_uid]
        ],
        view:
          () =>
          ({ username, provider, extern_uid }) => ({ user: username, provider, extern_uid }),
        // A user has few of them.
        part: async (last = 0) => {
          if (owner === null) return identitiesAfter(last)
          return (await identitiesOf(owner.id)).filter(({ id }) => id > last)
        },
        idOf: ({ id }) => id
      })
    })
  }
}

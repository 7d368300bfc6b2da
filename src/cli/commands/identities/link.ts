import { linkIdentity } from '../../../areas/people/identity/links.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { config } from '../../../config.js'
import { NoSuch } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'

export default class IdentitiesLink extends BaseCommand {
  static override summary = 'Let a user sign in with an account at a provider or in a directory'
  static override description =
    'Anyone who can sign in to that account can then use the account of the user here, so check whose it is. An account that another user has is refused. With --json: {user, provider, extern_uid, linked}; linked is false if the user had it already.'
  static override examples = [
    '<%= config.bin %> identities link ada company 248289761001',
    '<%= config.bin %> identities link ada@example.org directory 6e7f1bb0-0b7a-4b3e-9e0f-6f6f7c0a4e11 --json'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'the user: username, mail address or number' }),
    provider: Args.string({ required: true, description: 'its name in identity.oidc, identity.ldap or identity.scim' }),
    uid: Args.string({
      required: true,
      description: 'the id of the account there: `sub` at a provider, the attribute attributes.id in a directory'
    })
  }

  async run() {
    const { args, flags } = await this.parse(IdentitiesLink)
    this.configure(flags)
    const { provider, uid } = args
    if (!isKnown(provider)) throw new NoSuch('provider', provider)
    const [user, linked] = await withDatabase(async () => {
      const found = await requireUser(args.user)
      return [found.username, await linkIdentity(found, { provider, externUid: uid }, commandOrigin())] as const
    })
    this.log(linked ? `linked ${user} with ${uid} at ${provider}` : `${user} has ${uid} at ${provider} already`)
    return { user, provider, extern_uid: uid, linked }
  }
}

function isKnown(name: string): boolean {
  const { oidc, ldap, scim } = config().identity
  return Object.hasOwn(oidc, name) || Object.hasOwn(ldap, name) || (scim.provider ?? 'scim') === name
}

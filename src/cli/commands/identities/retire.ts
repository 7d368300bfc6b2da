import { givenBy, retireProvider } from '../../../areas/people/identity/retired-providers.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'

export default class IdentitiesRetire extends BaseCommand {
  static override summary =
    'End the memberships and remove the SSH keys that a provider gave before it left the configuration'
  static override description =
    'What people gave stays, and so do accounts and the last owner of a group. `doctor` names such providers. A provider that comes back gives everything again at the next sign-in or synchronization. With --json: {provider, given: [{user, kind, name}]}; kind is group or key.'
  static override examples = [
    '<%= config.bin %> identities retire old-directory --dry-run',
    '<%= config.bin %> identities retire old-directory --json'
  ]
  static override args = {
    provider: Args.string({ required: true, description: 'its former name in the configuration' })
  }
  static override flags = { 'dry-run': Flags.boolean({ description: 'name them, and change nothing' }) }

  async run() {
    const { args, flags } = await this.parse(IdentitiesRetire)
    this.configure(flags)
    const { provider } = args
    const dryRun = flags['dry-run']
    const given = await withDatabase(() => (dryRun ? givenBy(provider) : retireProvider(provider, commandOrigin())))
    for (const { username, kind, name } of given) this.log(`${username}: ${kind} ${name}`)
    this.log(`${dryRun ? 'would take back' : 'took back'} ${given.length} of ${provider}`)
    return { provider, given: given.map(({ username, kind, name }) => ({ user: username, kind, name })) }
  }
}

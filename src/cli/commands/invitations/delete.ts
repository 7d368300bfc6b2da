import { requireSource } from '../../../areas/people/members/sources.js'
import { revokeInvitation } from '../../../areas/reach/accounts/invitations/invitations.js'
import { listInvitations } from '../../../areas/reach/accounts/invitations/invitations.queries.js'
import { NoSuch } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import { viewInvitation } from '../../topics/invitations.js'
import { nameOf, SOURCE } from '../../topics/member-terms.js'

export default class InvitationsDelete extends BaseCommand {
  static override summary = 'Withdraw invitations, whose links then do not work any more'
  static override description = 'With --json: the invitation, as `invitations list` shows it.'
  static override examples = [
    '<%= config.bin %> invitations delete team ada@example.org',
    '<%= config.bin %> invitations delete ada/engine bob@example.org eve@example.org --json'
  ]
  static override strict = false
  static override args = {
    of: Args.string({ required: true, description: SOURCE }),
    address: Args.string({ required: true, description: 'the mail address; you can give several' })
  }

  async run() {
    const { argv, flags } = await this.parse(InvitationsDelete)
    this.configure(flags)
    const [of = '', ...addresses] = argv.map(String)
    return withDatabase(async () => {
      const source = await requireSource(of)
      const pending = await listInvitations(source)
      return doEach(addresses, this.jsonEnabled(), async address => {
        const found = pending.find(each => each.address.toLowerCase() === address.toLowerCase())
        if (!found) throw new NoSuch(`invitation to ${nameOf(source)}`, address)
        await revokeInvitation(source, found.id, commandOrigin())
        this.log(`withdrew the invitation of ${found.address} to ${nameOf(source)}`)
        return viewInvitation(found)
      })
    })
  }
}

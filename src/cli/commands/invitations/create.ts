import { requireSource } from '../../../areas/people/members/sources.js'
import * as rules from '../../../areas/reach/accounts/invitations/invitations.js'
import * as levels from '../../../lib/levels.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import { viewInvitation } from '../../topics/invitations.js'
import * as words from '../../topics/member-terms.js'
import { endOf, expiresFlag, levelFlag, SOURCE } from '../../topics/member-terms.js'

export default class InvitationsCreate extends BaseCommand {
  static override summary = 'Invite mail addresses to a project or group'
  static override description =
    'The mail has a link, which works once and for 14 days. Somebody whose account has the address accepts it, or signs up with it. A second invitation of an address replaces the first. With --json: {id, address, level, expires_at, by, created_at}.'
  static override examples = [
    '<%= config.bin %> invitations create team ada@example.org --level developer',
    '<%= config.bin %> invitations create ada/engine bob@example.org eve@example.org --level reporter --expires 2027-01-31 --json'
  ]
  static override strict = false
  static override args = {
    of: Args.string({ required: true, description: SOURCE }),
    address: Args.string({ required: true, description: 'the mail address; you can give several' })
  }
  static override flags = {
    level: levelFlag({ required: true }),
    expires: expiresFlag
  }

  async run() {
    const { argv, flags } = await this.parse(InvitationsCreate)
    this.configure(flags)
    const [of = '', ...addresses] = argv.map(String)
    const end = endOf(flags.expires)
    return withDatabase(async () => {
      const source = await requireSource(of)
      return doEach(addresses, this.jsonEnabled(), async address => {
        const terms = { access_level: levels.levelOf(flags.level) ?? 0, ...(end !== undefined && { expires_at: end }) }
        const made = await rules.invite(source, { address, ...terms }, commandOrigin())
        this.log(`invited ${made.address} to ${words.nameOf(source)} (${words.termsOf(made)})`)
        return viewInvitation(made)
      })
    })
  }
}

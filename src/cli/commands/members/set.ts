import { updateMember } from '../../../areas/people/members/members.js'
import { findMember } from '../../../areas/people/members/members.queries.js'
import { viewMember } from '../../../areas/people/members/members.view.js'
import * as sources from '../../../areas/people/members/sources.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { NoSuch } from '../../../errors.js'
import * as levels from '../../../lib/levels.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import * as words from '../../topics/member-terms.js'
import { endOf, expiresFlag, levelFlag, SOURCE } from '../../topics/member-terms.js'

export default class MembersSet extends BaseCommand {
  static override summary = 'Change the level or the end date of members of a project or group'
  static override description =
    'Values without a flag do not change. A group must keep an owner whose membership does not end. With --json: the member as in GET /groups/:id/members.'
  static override examples = [
    '<%= config.bin %> members set team bert --level master',
    '<%= config.bin %> members set ada/engine bert eve --expires 2027-01-31',
    '<%= config.bin %> members set ada/engine bert --expires never --json'
  ]
  static override strict = false
  static override args = {
    of: Args.string({ required: true, description: SOURCE }),
    user: Args.string({
      required: true,
      description: 'the member: username, mail address or number; you can give several'
    })
  }
  static override flags = { level: levelFlag(), expires: expiresFlag }

  async run() {
    const { argv, flags } = await this.parse(MembersSet)
    this.configure(flags)
    const [of = '', ...users] = argv.map(String)
    const end = endOf(flags.expires)
    if (flags.level === undefined && end === undefined) {
      this.error('specify --level or --expires: see gitstead members set --help', { exit: 2 })
    }
    return withDatabase(async () => {
      const source = await sources.requireSource(of)
      return doEach(users, this.jsonEnabled(), async name => {
        const { id, username } = await requireUser(name)
        const known = await findMember(source, id)
        if (!known) throw new NoSuch(`member of ${words.nameOf(source)}`, username)
        const level = flags.level === undefined ? known.access_level : (levels.levelOf(flags.level) ?? 0)
        const change = { access_level: level, ...(end !== undefined && { expires_at: end }) }
        const member = await words.orWhy(source, username, () => updateMember(source, id, change, commandOrigin()))
        this.log(`changed ${username} in ${words.nameOf(source)} (${words.termsOf(member)})`)
        return viewMember(member)
      })
    })
  }
}

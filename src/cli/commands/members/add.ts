import * as rules from '../../../areas/people/members/members.js'
import { findMember } from '../../../areas/people/members/members.queries.js'
import { viewMember } from '../../../areas/people/members/members.view.js'
import { requireSource } from '../../../areas/people/members/sources.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { Conflict } from '../../../errors.js'
import * as levels from '../../../lib/levels.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import * as words from '../../topics/member-terms.js'
import { endOf, expiresFlag, levelFlag, SOURCE } from '../../topics/member-terms.js'

export default class MembersAdd extends BaseCommand {
  static override summary = 'Make users members of a project or group'
  static override description =
    'This also accepts an access request of the user. A user who is already a member is refused; use `members set` instead. With --json: the member as in GET /groups/:id/members.'
  static override examples = [
    '<%= config.bin %> members add ada/engine bert --level developer',
    '<%= config.bin %> members add team ada bert --level reporter --expires 2027-01-31 --json'
  ]
  static override strict = false
  static override args = {
    of: Args.string({ required: true, description: SOURCE }),
    user: Args.string({
      required: true,
      description: 'the user: username, mail address or number; you can give several'
    })
  }
  static override flags = {
    level: levelFlag({ required: true }),
    expires: expiresFlag
  }

  async run() {
    const { argv, flags } = await this.parse(MembersAdd)
    this.configure(flags)
    const [of = '', ...users] = argv.map(String)
    const end = endOf(flags.expires)
    return withDatabase(async () => {
      const source = await requireSource(of)
      return doEach(users, this.jsonEnabled(), async name => {
        const { id, username } = await requireUser(name)
        // Like the API, the rule returns an existing member of a project unchanged, which would look like a success.
        if (await findMember(source, id))
          throw new Conflict(`${username} is already a member of ${words.nameOf(source)}`)
        const level = levels.levelOf(flags.level) ?? 0
        const body = { user_id: id, access_level: level, ...(end !== undefined && { expires_at: end }) }
        const member = await rules.addMember(source, body, commandOrigin())
        this.log(`added ${username} to ${words.nameOf(source)} (${words.termsOf(member)})`)
        return viewMember(member)
      })
    })
  }
}

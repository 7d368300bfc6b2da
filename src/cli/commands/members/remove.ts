import { removeMember } from '../../../areas/people/members/members.js'
import type { MemberRow as Row } from '../../../areas/people/members/members.queries.js'
import { findMember } from '../../../areas/people/members/members.queries.js'
import { viewMember } from '../../../areas/people/members/members.view.js'
import * as sources from '../../../areas/people/members/sources.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { NoSuch } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { destroyEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import * as words from '../../topics/member-terms.js'
import { SOURCE } from '../../topics/member-terms.js'

export default class MembersRemove extends BaseCommand {
  static override summary = 'Remove members from a project or group'
  static override description =
    'They lose access from their next request on. The last owner of a group and the owner of a personal project cannot be removed. The command asks for confirmation at the terminal, or needs --yes. With --json: {removed: member}, or with --dry-run {would_remove: member} as in GET /groups/:id/members.'
  static override examples = [
    '<%= config.bin %> members remove team bert --dry-run',
    '<%= config.bin %> members remove ada/engine bert eve --yes --json'
  ]
  static override strict = false
  static override args = {
    of: Args.string({ required: true, description: SOURCE }),
    user: Args.string({
      required: true,
      description: 'the member: username, mail address or number; you can give several'
    })
  }
  static override flags = { ...destroyingFlags }

  async run() {
    const { argv, flags } = await this.parse(MembersRemove)
    this.configure(flags)
    const [of = '', ...users] = argv.map(String)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    return withDatabase(async () => {
      const source = await sources.requireSource(of)
      const from = words.nameOf(source)
      const find = async (name: string) => {
        const { id, username } = await requireUser(name)
        const found = await findMember(source, id)
        if (!found) throw new NoSuch(`member of ${from}`, username)
        return found
      }
      const destroy = async (member: Row) => {
        const { user_id: id, username } = member
        if (!dryRun) await words.orWhy(source, username, () => removeMember(source, id, commandOrigin()))
        this.log(`${dryRun ? 'would remove' : 'removed'} ${username} (${words.termsOf(member)}) from ${from}`)
        return dryRun ? { would_remove: viewMember(member) } : { removed: viewMember(member) }
      }
      const loss = (member: Row) => `to remove ${member.username} (${words.termsOf(member)}) from ${from}`
      return destroyEach<string, Row, object>(users, { find, loss, destroy, how, dryRun })
    })
  }
}

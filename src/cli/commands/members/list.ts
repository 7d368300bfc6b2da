import type { MemberRow as Row } from '../../../areas/people/members/members.queries.js'
import { listMembers, membersAfter } from '../../../areas/people/members/members.queries.js'
import { requireSource } from '../../../areas/people/members/sources.js'
import { levelName } from '../../../lib/levels.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'
import type { Column } from '../../output/table.js'
import { SOURCE } from '../../topics/member-terms.js'

export default class MembersList extends BaseCommand {
  static override summary = 'List the members of a project or group'
  static override description =
    'Lists only direct members, not the members of the group of a project or of groups that it is shared with. With --json: {members, total}, each as in GET /groups/:id/members; total counts all pages. With --all --json, each member is one line.'
  static override examples = [
    '<%= config.bin %> members list ada/engine',
    '<%= config.bin %> members list team --search example.org --json',
    '<%= config.bin %> members list team --all'
  ]
  static override args = { of: Args.string({ required: true, description: SOURCE }) }
  static override flags = {
    search: Flags.string({
      description: 'only members with this text in their name or username, or with this mail address'
    }),
    page: Flags.integer({ default: 1, min: 1, max: 1_000_000, description: 'the number of the page, from 1' }),
    'per-page': Flags.integer({ default: 100, min: 1, max: 100, description: 'members on a page' }),
    ...allFlag(['page', 'per-page'])
  }

  async run() {
    const { args, flags } = await this.parse(MembersList)
    this.configure(flags)
    const columns: readonly Column<Row>[] = [
      ['ID', member => member.user_id],
      ['USERNAME', member => member.username],
      ['NAME', member => member.name],
      ['LEVEL', member => levelName(member.access_level)],
      ['EXPIRES', member => member.expires_at],
      ['STATE', member => member.state],
      ['SINCE', member => member.created_at]
    ]
    const query = { query: flags.search, page: flags.page, per_page: flags['per-page'] }
    return withDatabase(async () => {
      const source = await requireSource(args.of)
      return printList({
        name: 'members',
        all: flags.all,
        json: this.jsonEnabled(),
        columns,
        view: async () => (await import('../../../areas/people/members/members.view.js')).viewMember,
        first: () => listMembers(source, query),
        part: (last = 0) => membersAfter(source, query, last),
        idOf: ({ user_id }) => user_id,
        hint: 'use --page or --all to see more'
      })
    })
  }
}

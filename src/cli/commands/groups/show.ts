import { viewGroupLine } from '../../../areas/people/groups/groups.line.js'
import { requireGroup } from '../../../areas/people/groups/groups.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import { fields } from '../../output/table.js'

export default class GroupsShow extends BaseCommand {
  static override summary = 'Show a group'
  static override description =
    'Shows the number of projects and members, and the storage of the projects when a job last measured it. An old path of the group also works. `members list GROUP` shows the members. With --json: the group as in `groups list`.'
  static override examples = ['<%= config.bin %> groups show team', '<%= config.bin %> groups show 42 --json']
  static override strict = false
  static override args = {
    group: Args.string({ required: true, description: 'the group: path or number; you can give several' })
  }

  async run() {
    const { argv, flags } = await this.parse(GroupsShow)
    this.configure(flags)
    const show = async (name: string) => {
      const group = viewGroupLine(await requireGroup(name))
      this.log(fields(group))
      return group
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), show))
  }
}

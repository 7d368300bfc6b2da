import { updateGroup } from '../../../areas/people/groups/groups.js'
import { viewGroupLine } from '../../../areas/people/groups/groups.line.js'
import { requireGroup, writtenGroup } from '../../../areas/people/groups/groups.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'
import { groupAttributes, groupFlags } from '../../topics/group-attributes.js'

export default class GroupsUpdate extends BaseCommand {
  static override summary = 'Change attributes of a group'
  static override description =
    'Attributes without a flag do not change. A new path also changes the paths of the projects; the old paths still work. A group cannot be less visible than one of its projects. With --json: the group as in `groups list`.'
  static override examples = [
    '<%= config.bin %> groups update team --visibility public',
    '<%= config.bin %> groups update team --path crew --name "The crew" --json',
    '<%= config.bin %> groups update 42 --no-request-access --share-lock'
  ]
  static override args = {
    group: Args.string({ required: true, description: 'the group: path or number' })
  }
  static override flags = {
    name: Flags.string({ description: 'the display name' }),
    path: Flags.string({ description: 'the first part of the paths of its projects' }),
    ...groupFlags
  }

  async run() {
    const { args, flags } = await this.parse(GroupsUpdate)
    this.configure(flags)
    const change = groupAttributes(flags)
    if (Object.keys(change).length === 0) {
      this.error('specify at least one attribute to change, such as --name: see gitstead groups update --help', {
        exit: 2
      })
    }
    return withDatabase(async () => {
      const { id } = await requireGroup(args.group)
      await updateGroup(id, change, commandOrigin())
      const group = viewGroupLine(await writtenGroup(id))
      this.log(`changed ${Object.keys(change).join(', ')} of group ${group.path} (id ${id})`)
      return group
    })
  }
}

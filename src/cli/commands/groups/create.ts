import { viewGroupLine } from '../../../areas/people/groups/groups.line.js'
import { writtenGroup } from '../../../areas/people/groups/groups.queries.js'
import { createGroup } from '../../../areas/people/members/group-creation.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'
import { groupAttributes, groupFlags } from '../../topics/group-attributes.js'

export default class GroupsCreate extends BaseCommand {
  static override summary = 'Create a group with its owner'
  static override description =
    'The owner does not need the right to create groups. The default of --visibility is the setting default_group_visibility. With --json: the group as in `groups list`.'
  static override examples = [
    '<%= config.bin %> groups create team --owner ada',
    '<%= config.bin %> groups create team --owner ada --name "The team" --visibility internal --request-access --json'
  ]
  static override args = {
    path: Args.string({ required: true, description: 'the first part of the paths of its projects' })
  }
  static override flags = {
    owner: Flags.string({ required: true, description: 'the first owner: username, mail address or number' }),
    name: Flags.string({ description: 'the display name (default: the path)' }),
    ...groupFlags
  }

  async run() {
    const { args, flags } = await this.parse(GroupsCreate)
    this.configure(flags)
    const body = { ...groupAttributes(flags), name: flags.name ?? args.path, path: args.path }
    return withDatabase(async () => {
      const owner = await requireUser(flags.owner)
      const id = await createGroup(body, commandOrigin(), owner)
      const made = viewGroupLine(await writtenGroup(id))
      this.log(`created group ${made.path} (id ${id}), owner ${owner.username}`)
      return made
    })
  }
}

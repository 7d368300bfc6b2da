import { BaseCommand } from '../../base.js'
import { groupAttributes, groupFlags } from '../../group-attributes.js'
import { Args, Flags } from '../../oclif.js'

export default class GroupsCreate extends BaseCommand {
  static override summary = 'Create a group with its owner'
  static override description =
    'The owner needs no right to create groups: you decide. Without --visibility, the group gets the level of the setting default_group_visibility. With --json: the group in the form of `groups list`.'
  static override examples = [
    '<%= config.bin %> groups create team --owner ada',
    '<%= config.bin %> groups create team --owner ada --name "The team" --visibility internal --request-access --json'
  ]
  static override args = {
    path: Args.string({ required: true, description: 'the first part of the paths of its projects' })
  }
  static override flags = {
    owner: Flags.string({ required: true, description: 'the first owner: username, mail address or number' }),
    name: Flags.string({ description: 'the name that people read (default: the path)' }),
    ...groupFlags
  }

  async run() {
    const { args, flags } = await this.parse(GroupsCreate)
    this.configure(flags)
    const [{ withDatabase }, { commandOrigin }, { createGroup }, groups, { requireUser }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/members/group-creation.js'),
      import('../../../areas/groups/described-groups.js'),
      import('../../../areas/users/users.queries.js')
    ])
    const body = { ...groupAttributes(flags), name: flags.name ?? args.path, path: args.path }
    return withDatabase(async () => {
      const owner = await requireUser(flags.owner)
      const id = await createGroup(body, commandOrigin(), owner)
      const made = groups.describeGroup(await groups.writtenGroup(id))
      this.log(`created group ${made.path} (id ${id}), owner ${owner.username}`)
      return made
    })
  }
}

import { BaseCommand } from '../../base.js'
import { destroyingFlags, requireAnswer } from '../../confirm.js'
import { Args } from '../../oclif.js'

type Group = ReturnType<typeof import('../../../areas/groups/described-groups.js').describeGroup>

export default class GroupsDelete extends BaseCommand {
  static override summary = 'Delete a group with all its projects'
  static override description =
    'Its projects, memberships and shares are gone at once; jobs remove the repositories, builds and files afterwards. This cannot be undone, except that `restore --project` brings projects back from a backup: use --dry-run first. It asks for --yes, or for an answer at the terminal. With --json: {deleted: group}, or with --dry-run {would_delete: group, projects, members, access_requests, pipelines, builds, storage_size, unshared_projects}.'
  static override examples = [
    '<%= config.bin %> groups delete team --dry-run',
    '<%= config.bin %> groups delete team --yes --json'
  ]
  static override strict = false
  static override args = {
    group: Args.string({ required: true, description: 'the group: path or number; you can give several' })
  }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { argv, flags } = await this.parse(GroupsDelete)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!flags['dry-run']) requireAnswer(how)
    const [{ destroyEach }, { withDatabase }, { commandOrigin }, groups, { deleteGroup }, queries, summary] =
      await Promise.all([
        import('../../each.js'),
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/groups/described-groups.js'),
        import('../../../areas/removal/group-deletion.js'),
        import('../../../areas/removal/group-deletion.queries.js'),
        import('../../group-summary.js')
      ])
    const show = async (group: Group) => {
      const deletion = await queries.deletionOfGroup(group.id)
      this.log(summary.groupSummary(group.path, deletion))
      return { would_delete: group, ...deletion }
    }
    const destroy = async (group: Group) => {
      await deleteGroup(group.id, commandOrigin())
      this.log(`deleted group ${group.path} (id ${group.id}) with ${group.projects} projects`)
      return { deleted: group }
    }
    const dryRun = flags['dry-run'] === true
    return withDatabase(() =>
      destroyEach<string, Group, object>(argv.map(String), {
        find: async name => groups.describeGroup(await groups.requireGroup(name)),
        loss: async group => summary.groupSummary(group.path, await queries.deletionOfGroup(group.id)),
        destroy: dryRun ? show : destroy,
        how,
        dryRun
      })
    )
  }
}

import type { GroupLine as Group } from '../../../areas/people/groups/groups.line.js'
import { viewGroupLine } from '../../../areas/people/groups/groups.line.js'
import { requireGroup } from '../../../areas/people/groups/groups.queries.js'
import { deleteGroup } from '../../../areas/upkeep/removal/group-deletion.js'
import * as queries from '../../../areas/upkeep/removal/group-deletion.queries.js'
import { counted } from '../../../lib/counted.js'
import { BaseCommand } from '../../framework/base.js'
import { destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { destroyEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import * as summary from '../../output/group-summary.js'

export default class GroupsDelete extends BaseCommand {
  static override summary = 'Delete a group with all its projects'
  static override description =
    'Its projects, memberships and shares disappear at once; jobs then delete the repositories, builds and files. This cannot be undone, except that `restore --project` restores projects from a backup: use --dry-run first. The command asks for confirmation at the terminal, or needs --yes. With --json: {deleted: group}, or with --dry-run {would_delete: group, projects, members, access_requests, pipelines, builds, storage_size, unshared_projects}.'
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
    const show = async (group: Group) => {
      const deletion = await queries.deletionOfGroup(group.id)
      this.log(summary.groupSummary(group.path, deletion))
      return { would_delete: group, ...deletion }
    }
    const destroy = async (group: Group) => {
      await deleteGroup(group.id, commandOrigin())
      this.log(`deleted group ${group.path} (id ${group.id}) with ${counted(group.projects, 'project')}`)
      return { deleted: group }
    }
    const dryRun = flags['dry-run'] === true
    return withDatabase(() =>
      destroyEach<string, Group, object>(argv.map(String), {
        find: async name => viewGroupLine(await requireGroup(name)),
        loss: async group => summary.groupSummary(group.path, await queries.deletionOfGroup(group.id)),
        destroy: dryRun ? show : destroy,
        how,
        dryRun
      })
    )
  }
}

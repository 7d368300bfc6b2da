import { viewGroupLine } from '../../../areas/people/groups/groups.line.js'
import type { CountedGroup as Row } from '../../../areas/people/groups/groups.queries.js'
import { groupsBefore, listAllGroups } from '../../../areas/people/groups/groups.queries.js'
import { bytesText } from '../../../lib/bytes.js'
import { visibilityName } from '../../../lib/levels.js'
import { BaseCommand } from '../../framework/base.js'
import { allFlag, printList } from '../../framework/list-all.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'

export default class GroupsList extends BaseCommand {
  static override summary = 'List groups, newest first'
  static override description =
    'SIZE is the size of the repositories and artifacts when a job last measured them. With --json: {groups, total}; total counts all pages. With --all --json, each group is one line.'
  static override examples = [
    '<%= config.bin %> groups list --search team',
    '<%= config.bin %> groups list --all --json > groups.json'
  ]
  static override flags = {
    search: Flags.string({ description: 'only groups with this text in their name or path' }),
    page: Flags.integer({ default: 1, min: 1, max: 1_000_000, description: 'the number of the page, from 1' }),
    'per-page': Flags.integer({ default: 100, min: 1, max: 100, description: 'groups on a page' }),
    ...allFlag(['page', 'per-page'])
  }

  async run() {
    const { flags } = await this.parse(GroupsList)
    this.configure(flags)
    const columns: readonly (readonly [string, (group: Row) => string | number | Date])[] = [
      ['ID', group => group.id],
      ['PATH', group => group.path],
      ['NAME', group => group.name],
      ['VISIBILITY', group => visibilityName(group.visibility_level)],
      ['PROJECTS', group => group.projects],
      ['MEMBERS', group => group.members],
      ['SIZE', group => bytesText(group.storage_size)],
      ['CREATED', group => group.created_at]
    ]
    const { search, page } = flags
    const query = { search, page, per_page: flags['per-page'] }
    return withDatabase(() =>
      printList({
        name: 'groups',
        all: flags.all,
        json: this.jsonEnabled(),
        columns,
        view: () => viewGroupLine,
        first: () => listAllGroups(query),
        part: last => groupsBefore(query, last),
        idOf: ({ id }) => id,
        hint: 'use --page or --all to see more'
      })
    )
  }
}

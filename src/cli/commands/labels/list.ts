import { viewLabelLine } from '../../../areas/planning/labels/labels.line.js'
import { listAllLabels } from '../../../areas/planning/labels/labels.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { table } from '../../output/table.js'
import { labelOwnerFlags, requireLabelOwner } from '../../topics/label-owner.js'

export default class LabelsList extends BaseCommand {
  static override summary = 'List the labels of a project or group'
  static override description =
    'The labels of a project include those of its group. With --json: {labels}, each with id, title, color, description, group (null for a label of the project), priority, and the counts issues and merge_requests.'
  static override examples = [
    '<%= config.bin %> labels list --project ada/engine',
    '<%= config.bin %> labels list --group team --json'
  ]
  static override flags = labelOwnerFlags

  async run() {
    const { flags } = await this.parse(LabelsList)
    this.configure(flags)
    const labels = await withDatabase(async () => listAllLabels(await requireLabelOwner(flags)))
    this.log(
      table(labels, [
        ['TITLE', label => label.title],
        ['COLOR', label => label.color],
        ['GROUP', label => label.group],
        ['PRIORITY', label => label.priority],
        ['ISSUES', label => label.issues],
        ['MERGE REQUESTS', label => label.merge_requests],
        ['DESCRIPTION', label => label.description]
      ])
    )
    return { labels: labels.map(viewLabelLine) }
  }
}

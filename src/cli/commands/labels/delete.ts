import { removeLabel } from '../../../areas/planning/labels/administer.js'
import { requireOwnLabel } from '../../../areas/planning/labels/labels.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { destroyEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import { labelOwnerFlags, requireLabelOwner } from '../../topics/label-owner.js'

export default class LabelsDelete extends BaseCommand {
  static override summary = 'Delete labels of a project or group'
  static override description =
    'Also removes them from all issues and merge requests. With --json: {deleted}, or with --dry-run {would_delete}: the title.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> labels delete bug --project ada/engine --dry-run',
    '<%= config.bin %> labels delete bug urgent --group team --yes --json'
  ]
  static override args = {
    title: Args.string({ required: true, description: 'the title of a label; you can give several' })
  }
  static override flags = { ...labelOwnerFlags, ...destroyingFlags }

  async run() {
    const { argv, flags } = await this.parse(LabelsDelete)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    return withDatabase(async () => {
      const owner = await requireLabelOwner(flags)
      return destroyEach(argv.map(String), {
        how,
        dryRun,
        find: title => requireOwnLabel(owner, title),
        loss: ({ title, issues, merge_requests }) =>
          `to delete label ${title} of ${owner.path} from ${issues + merge_requests} issues and merge requests`,
        destroy: async label => {
          if (!dryRun) await removeLabel(owner, label, commandOrigin())
          this.log(`${dryRun ? 'would delete' : 'deleted'} label ${label.title} of ${owner.path}`)
          return dryRun ? { would_delete: label.title } : { deleted: label.title }
        }
      })
    })
  }
}

import { deleteApplication } from '../../../../areas/people/credentials/oauth-applications.js'
import { requireApplication } from '../../../../areas/people/credentials/oauth-applications.queries.js'
import { viewApplication } from '../../../../areas/people/credentials/oauth-applications.view.js'
import { BaseCommand } from '../../../framework/base.js'
import { confirm, destroyingFlags, requireAnswer } from '../../../framework/confirm.js'
import { commandOrigin } from '../../../framework/origin.js'
import { withDatabase } from '../../../framework/with-database.js'
import { recordNumber } from '../../../input/record-number.js'

export default class OauthApplicationsDelete extends BaseCommand {
  static override summary = 'Delete an OAuth application; its codes and tokens stop working'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the application as in `oauth applications list`.'
  static override examples = [
    '<%= config.bin %> oauth applications delete 17 --dry-run',
    '<%= config.bin %> oauth applications delete 17 --yes --json'
  ]
  static override args = { id: recordNumber('number of the application, as `oauth applications list` shows it') }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, args } = await this.parse(OauthApplicationsDelete)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!flags['dry-run']) requireAnswer(how)
    const found = await withDatabase(async () => {
      const application = await requireApplication(args.id)
      if (flags['dry-run']) return application
      await confirm(`to delete application ${application.id} (${JSON.stringify(application.name)})`, how)
      return deleteApplication(args.id, commandOrigin())
    })
    const what = `application ${found.id} (${JSON.stringify(found.name)})`
    this.log(flags['dry-run'] ? `would delete ${what}` : `deleted ${what}`)
    return flags['dry-run'] ? { would_delete: viewApplication(found) } : { deleted: viewApplication(found) }
  }
}

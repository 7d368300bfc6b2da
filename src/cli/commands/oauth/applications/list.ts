import { listApplications, redirectUrisOf } from '../../../../areas/people/credentials/oauth-applications.queries.js'
import { requireUser } from '../../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../../framework/base.js'
import { withDatabase } from '../../../framework/with-database.js'
import { Flags } from '../../../oclif.js'
import { table } from '../../../output/table.js'

export default class OauthApplicationsList extends BaseCommand {
  static override summary = 'List OAuth applications of the instance and of users, newest first'
  static override description =
    'Secrets are never shown: the database does not contain them. With --json: {applications, total}, each as in GET /applications; total also counts the applications beyond --limit.'
  static override examples = [
    '<%= config.bin %> oauth applications list',
    '<%= config.bin %> oauth applications list --user ada --json'
  ]
  static override flags = {
    user: Flags.string({
      description: 'only applications that this user has registered: username, mail address or number'
    }),
    limit: Flags.integer({ default: 100, min: 1, max: 10_000, description: 'show at most this many applications' })
  }

  async run() {
    const { flags } = await this.parse(OauthApplicationsList)
    this.configure(flags)
    const { items, total } = await withDatabase(async () => {
      const userId = flags.user === undefined ? undefined : (await requireUser(flags.user)).id
      return listApplications({ userId }, `limit ${flags.limit}`)
    })
    // Load the view only for --json, because it loads the schema library.
    if (this.jsonEnabled()) {
      const { viewApplication } = await import('../../../../areas/people/credentials/oauth-applications.view.js')
      return { applications: items.map(viewApplication), total }
    }
    this.log(
      table(items, [
        ['ID', application => application.id],
        ['NAME', application => application.name],
        ['OF', application => application.username ?? 'the instance'],
        ['SCOPES', application => application.scopes],
        ['KIND', application => (application.confidential === 1 ? 'confidential' : 'public')],
        ['REDIRECT URIS', application => redirectUrisOf(application).join(' ')],
        ['CLIENT_ID', application => application.uid],
        ['CREATED', application => application.created_at]
      ])
    )
    if (total > items.length) this.logToStderr(`${items.length} of ${total} applications: raise --limit to see more`)
    return undefined
  }
}

import { listAuthorizations } from '../../../../areas/people/credentials/oauth/grants.queries.js'
import { requireUser } from '../../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../../framework/base.js'
import { withDatabase } from '../../../framework/with-database.js'
import { Args } from '../../../oclif.js'
import { table } from '../../../output/table.js'

export default class OauthGrantsList extends BaseCommand {
  static override summary = 'List the applications that have access to the account of a user'
  static override description =
    'Newest grant first, at most 100. Tokens that were issued for a password, without an application, are one line without a number. With --json: {grants, total}, each {application_id, name, scopes, since, last_used_at}.'
  static override examples = [
    '<%= config.bin %> oauth grants list ada',
    '<%= config.bin %> oauth grants list ada@example.org --json'
  ]
  static override args = {
    user: Args.string({ required: true, description: 'the user: username, mail address or number' })
  }

  async run() {
    const { args, flags } = await this.parse(OauthGrantsList)
    this.configure(flags)
    const grants = await withDatabase(async () => listAuthorizations((await requireUser(args.user)).id))
    this.log(
      table(grants, [
        ['APPLICATION', grant => grant.application_id],
        ['NAME', grant => grant.name ?? 'password, no application'],
        ['SCOPES', grant => grant.scopes],
        ['SINCE', grant => grant.since],
        ['LAST USE', grant => grant.last_used_at]
      ])
    )
    return { grants, total: grants.length }
  }
}

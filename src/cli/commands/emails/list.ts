import { listEmails } from '../../../areas/people/users/emails.queries.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'
import { table } from '../../output/table.js'

export default class EmailsList extends BaseCommand {
  static override summary = 'List the additional mail addresses of a user, without the primary one'
  static override description =
    '`users show` shows the primary address. With --json: {emails}, each as the API shows it.'
  static override examples = [
    '<%= config.bin %> emails list --user ada',
    '<%= config.bin %> emails list --user ada@example.org --json'
  ]
  static override flags = {
    user: Flags.string({ required: true, description: 'the user: username, mail address or number' })
  }

  async run() {
    const { flags } = await this.parse(EmailsList)
    this.configure(flags)
    const found = await withDatabase(async () => listEmails((await requireUser(flags.user)).id))
    // Load the view only for --json, because it loads the schema library.
    if (this.jsonEnabled()) {
      const { viewEmail } = await import('../../../areas/people/users/emails.view.js')
      return { emails: found.map(viewEmail) }
    }
    this.log(
      table(found, [
        ['ID', email => email.id],
        ['ADDRESS', email => email.email]
      ])
    )
    return undefined
  }
}

import { addEmail } from '../../../areas/people/users/emails.js'
import { viewEmail } from '../../../areas/people/users/emails.view.js'
import { requireUser } from '../../../areas/people/users/users.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'

export default class EmailsAdd extends BaseCommand {
  static override summary = 'Add a mail address to a user'
  static override description =
    'An address that any user already has, primary or not, is refused. With --json: the address as the API shows it.'
  static override examples = [
    '<%= config.bin %> emails add --user ada ada@home.example.org',
    '<%= config.bin %> emails add --user 17 ada@home.example.org --json'
  ]
  static override args = { address: Args.string({ required: true, description: 'the mail address' }) }
  static override flags = {
    user: Flags.string({ required: true, description: 'the user: username, mail address or number' })
  }

  async run() {
    const { flags, args } = await this.parse(EmailsAdd)
    this.configure(flags)
    const [user, email] = await withDatabase(async () => {
      const owner = await requireUser(flags.user)
      return [owner, await addEmail(owner, { email: args.address }, commandOrigin())] as const
    })
    this.log(`added address ${email.id} of ${user.username}: ${email.email}`)
    return viewEmail(email)
  }
}

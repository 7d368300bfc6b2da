import { FIRST_LINK_HOURS, type FirstLink, firstLink } from '../../../areas/reach/accounts/first-administrator.js'
import { Conflict } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'

export default class UsersFirstLink extends BaseCommand {
  static override summary = 'Print a link that makes the first administrator'
  static override description =
    `The person who opens the link chooses a username and a password, so send it to nobody else. It works within ${FIRST_LINK_HOURS} hours, until there is an administrator. If there is one already, the command fails with exit code 4. With --json: {url, expires_at}.`
  static override examples = ['<%= config.bin %> users first-link', '<%= config.bin %> users first-link --json']

  async run(): Promise<FirstLink> {
    const { flags } = await this.parse(UsersFirstLink)
    this.configure(flags)
    const link = await withDatabase(firstLink)
    if (link === null) throw new Conflict('there is an administrator already: `gitstead users list` shows who')
    this.log(link.url)
    return link
  }
}

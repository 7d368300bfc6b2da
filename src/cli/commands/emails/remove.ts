import { BaseCommand } from '../../base.js'
import { confirm, destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumber } from '../../record-number.js'

export default class EmailsRemove extends BaseCommand {
  static override summary = 'Remove a further mail address from its user'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the address as the API shows it.'
  static override examples = [
    '<%= config.bin %> emails remove 17 --dry-run',
    '<%= config.bin %> emails remove 17 --yes --json'
  ]
  static override args = { id: recordNumber('number of the address, as `emails list` shows it') }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, args } = await this.parse(EmailsRemove)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!flags['dry-run']) requireAnswer(how)
    const [{ withDatabase }, { commandOrigin }, { requireAnyEmail }, { deleteEmail }, { viewEmail }] =
      await Promise.all([
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/users/emails.queries.js'),
        import('../../../areas/users/emails.js'),
        import('../../../areas/users/emails.view.js')
      ])
    const email = await withDatabase(async () => {
      const found = await requireAnyEmail(args.id)
      if (!flags['dry-run']) await confirm(`to remove ${found.email} of ${found.username}`, how)
      const owner = { id: found.user_id, username: found.username }
      if (!flags['dry-run']) await deleteEmail(owner, found.id, commandOrigin())
      return found
    })
    const what = `address ${email.id} of ${email.username}: ${email.email}`
    this.log(flags['dry-run'] ? `would remove ${what}` : `removed ${what}`)
    return flags['dry-run'] ? { would_delete: viewEmail(email) } : { deleted: viewEmail(email) }
  }
}

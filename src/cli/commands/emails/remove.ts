import { BaseCommand } from '../../base.js'
import { destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class EmailsRemove extends BaseCommand {
  static override summary = 'Remove a further mail address from its user'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the address as the API shows it.'
  static override examples = [
    '<%= config.bin %> emails remove 17 --dry-run',
    '<%= config.bin %> emails remove 17 --yes --json'
  ]
  static override strict = false
  static override args = { id: recordNumbers('number of the address, as `emails list` shows it') }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, argv } = await this.parse(EmailsRemove)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    const [
      { asked },
      { destroyEach },
      { withDatabase },
      { commandOrigin },
      { requireAnyEmail },
      { deleteEmail },
      { viewEmail }
    ] = await Promise.all([
      import('../../asked.js'),
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/users/emails.queries.js'),
      import('../../../areas/users/emails.js'),
      import('../../../areas/users/emails.view.js')
    ])
    return withDatabase(() =>
      destroyEach(requireNumbers(argv), {
        how,
        dryRun,
        find: id => asked('address', id, () => requireAnyEmail(id)),
        loss: ({ email, username }) => `to remove ${email} of ${username}`,
        destroy: async email => {
          const owner = { id: email.user_id, username: email.username }
          if (!dryRun) await deleteEmail(owner, email.id, commandOrigin())
          this.log(`${dryRun ? 'would remove' : 'removed'} address ${email.id} of ${email.username}: ${email.email}`)
          return dryRun ? { would_delete: viewEmail(email) } : { deleted: viewEmail(email) }
        }
      })
    )
  }
}

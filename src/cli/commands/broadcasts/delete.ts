import { BaseCommand } from '../../base.js'
import { destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class BroadcastsDelete extends BaseCommand {
  static override summary = 'Delete a broadcast message'
  static override description = 'With --json: {deleted}, or with --dry-run {would_delete}: the message.'
  static override examples = [
    '<%= config.bin %> broadcasts delete 3 --dry-run',
    '<%= config.bin %> broadcasts delete 3 --yes --json'
  ]
  static override strict = false
  static override args = { id: recordNumbers('number of the message') }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, argv } = await this.parse(BroadcastsDelete)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    const [
      { asked },
      { destroyEach },
      { withDatabase },
      { commandOrigin },
      { deleteBroadcast },
      { requireBroadcast },
      { viewBroadcast }
    ] = await Promise.all([
      import('../../asked.js'),
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/broadcasts/broadcasts.js'),
      import('../../../areas/broadcasts/broadcasts.queries.js'),
      import('../../../areas/broadcasts/broadcasts.view.js')
    ])
    return withDatabase(() =>
      destroyEach(requireNumbers(argv), {
        how,
        dryRun,
        find: id => asked('broadcast message', id, () => requireBroadcast(id)),
        loss: ({ id }) => `to delete broadcast message ${id}`,
        destroy: async found => {
          const message = viewBroadcast(dryRun ? found : await deleteBroadcast(found.id, commandOrigin()))
          this.log(`${dryRun ? 'would delete' : 'deleted'} broadcast message ${message.id}`)
          return dryRun ? { would_delete: message } : { deleted: message }
        }
      })
    )
  }
}

import { BaseCommand } from '../../base.js'
import { confirm, destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumber } from '../../record-number.js'

export default class BroadcastsDelete extends BaseCommand {
  static override summary = 'Delete a broadcast message'
  static override description = 'With --json: {deleted}, or with --dry-run {would_delete}: the message.'
  static override examples = [
    '<%= config.bin %> broadcasts delete 3 --dry-run',
    '<%= config.bin %> broadcasts delete 3 --yes --json'
  ]
  static override args = { id: recordNumber('number of the message') }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, args } = await this.parse(BroadcastsDelete)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!flags['dry-run']) requireAnswer(how)
    const [{ withDatabase }, { commandOrigin }, { deleteBroadcast }, { requireBroadcast }, { viewBroadcast }] =
      await Promise.all([
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/broadcasts/broadcasts.js'),
        import('../../../areas/broadcasts/broadcasts.queries.js'),
        import('../../../areas/broadcasts/broadcasts.view.js')
      ])
    const message = await withDatabase(async () => {
      const found = await requireBroadcast(args.id, `Broadcast message ${args.id}`)
      if (!flags['dry-run']) await confirm(`to delete broadcast message ${args.id}`, how)
      return viewBroadcast(flags['dry-run'] ? found : await deleteBroadcast(args.id, commandOrigin()))
    })
    this.log(`${flags['dry-run'] ? 'would delete' : 'deleted'} broadcast message ${message.id}`)
    return flags['dry-run'] ? { would_delete: message } : { deleted: message }
  }
}

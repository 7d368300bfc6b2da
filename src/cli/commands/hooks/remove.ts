import { BaseCommand } from '../../base.js'
import { confirm, destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumber } from '../../record-number.js'

export default class HooksRemove extends BaseCommand {
  static override summary = 'Remove a system hook; its waiting deliveries are not sent any more'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the hook in the form of `hooks show`, with pending_deliveries.'
  static override examples = [
    '<%= config.bin %> hooks remove 3 --dry-run',
    '<%= config.bin %> hooks remove 3 --yes --json'
  ]
  static override args = { id: recordNumber('number of the hook') }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, args } = await this.parse(HooksRemove)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!flags['dry-run']) requireAnswer(how)
    const [{ withDatabase }, { commandOrigin }, rules, { hookHealth }, { viewHookWithHealth }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/hooks/hooks.js'),
      import('../../../areas/hooks/hooks.queries.js'),
      import('../../../areas/hooks/hooks.view.js')
    ])
    const hook = await withDatabase(async () => {
      const health = await hookHealth(args.id)
      const shown = viewHookWithHealth(await rules.findHook(args.id), health)
      if (flags['dry-run']) return shown
      if (!how.yes) await confirm(`to remove hook ${args.id} (${shown.url})`, how)
      await rules.deleteHook(args.id, commandOrigin())
      return shown
    })
    const what = `hook ${hook.id} (${hook.url}) with ${hook.pending_deliveries} waiting deliveries`
    this.log(flags['dry-run'] ? `would remove ${what}` : `removed ${what}`)
    return flags['dry-run'] ? { would_delete: hook } : { deleted: hook }
  }
}

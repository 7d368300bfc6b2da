import { BaseCommand } from '../../base.js'
import { recordNumber } from '../../record-number.js'

export default class HooksShow extends BaseCommand {
  static override summary = 'Show a system hook and the state of its receiver'
  static override description =
    'The token is never shown. With --json: the hook with all its flags, has_token, failures (in a row), resting_until, pending_deliveries and dead_deliveries.'
  static override examples = ['<%= config.bin %> hooks show 3', '<%= config.bin %> hooks show 3 --json']
  static override args = { id: recordNumber('number of the hook') }

  async run() {
    const { flags, args } = await this.parse(HooksShow)
    this.configure(flags)
    const [{ withDatabase }, { findHook }, { hookHealth }, { viewHookWithHealth }, { fields }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../areas/hooks/hooks.js'),
      import('../../../areas/hooks/hooks.queries.js'),
      import('../../../areas/hooks/hooks.view.js'),
      import('../../table.js')
    ])
    const hook = await withDatabase(async () => viewHookWithHealth(await findHook(args.id), await hookHealth(args.id)))
    this.log(fields(hook))
    return hook
  }
}

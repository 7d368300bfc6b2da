import { BaseCommand } from '../../base.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class HooksShow extends BaseCommand {
  static override summary = 'Show a system hook and the state of its receiver'
  static override description =
    'The token is never shown. With --json: the hook with all its flags, has_token, failures (in a row), resting_until, pending_deliveries and dead_deliveries.'
  static override examples = ['<%= config.bin %> hooks show 3', '<%= config.bin %> hooks show 3 --json']
  static override strict = false
  static override args = { id: recordNumbers('number of the hook') }

  async run() {
    const { flags, argv } = await this.parse(HooksShow)
    this.configure(flags)
    const [{ asked }, { doEach }, { withDatabase }, { findHook }, { hookHealth }, { viewHookWithHealth }, { fields }] =
      await Promise.all([
        import('../../asked.js'),
        import('../../each.js'),
        import('../../with-database.js'),
        import('../../../areas/hooks/hooks.js'),
        import('../../../areas/hooks/hooks.queries.js'),
        import('../../../areas/hooks/hooks.view.js'),
        import('../../table.js')
      ])
    const show = async (id: number) => {
      const hook = viewHookWithHealth(await asked('hook', id, () => findHook(id)), await hookHealth(id))
      this.log(fields(hook))
      return hook
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), show))
  }
}

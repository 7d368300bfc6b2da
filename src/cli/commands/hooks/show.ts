import { findHook } from '../../../areas/ground/hooks/hooks.js'
import { hookHealth } from '../../../areas/ground/hooks/hooks.queries.js'
import { viewHookWithHealth } from '../../../areas/ground/hooks/hooks.view.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'
import { fields } from '../../output/table.js'

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
    const show = async (id: number) => {
      const hook = viewHookWithHealth(await orNotFound('hook', id, () => findHook(id)), await hookHealth(id))
      this.log(fields(hook))
      return hook
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), show))
  }
}

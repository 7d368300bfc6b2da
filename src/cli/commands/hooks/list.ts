import { listHooks } from '../../../areas/ground/hooks/hooks.js'
import { hooksHealth } from '../../../areas/ground/hooks/hooks.queries.js'
import { viewListedHook } from '../../../areas/ground/hooks/hooks.view.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { table } from '../../output/table.js'

export default class HooksList extends BaseCommand {
  static override summary = 'List system hooks and the state of their receivers'
  static override description =
    'When a receiver fails several times in a row, its hook pauses: nothing is sent to it for a while. With --json: {hooks}, each as in `hooks show`, but with the query values of URLs replaced by `redacted`.'
  static override examples = ['<%= config.bin %> hooks list', '<%= config.bin %> hooks list --json']

  async run() {
    const { flags } = await this.parse(HooksList)
    this.configure(flags)
    const [found, health] = await withDatabase(() => Promise.all([listHooks(), hooksHealth()]))
    const hooks = found.map(hook => viewListedHook(hook, health.get(hook.id)))
    this.log(
      table(hooks, [
        ['ID', hook => hook.id],
        ['URL', hook => hook.url],
        ['PUSH', hook => hook.push_events],
        ['TAGS', hook => hook.tag_push_events],
        ['TLS CHECKED', hook => hook.enable_ssl_verification],
        ['WAITING', hook => hook.pending_deliveries],
        ['DEAD', hook => hook.dead_deliveries],
        ['FAILURES', hook => hook.failures],
        ['PAUSED UNTIL', hook => hook.resting_until]
      ])
    )
    return { hooks }
  }
}

import { BaseCommand } from '../../base.js'
import { destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class HooksRemove extends BaseCommand {
  static override summary = 'Remove a system hook; its waiting deliveries are not sent any more'
  static override description =
    'With --json: {deleted}, or with --dry-run {would_delete}: the hook in the form of `hooks show`, with pending_deliveries.'
  static override examples = [
    '<%= config.bin %> hooks remove 3 --dry-run',
    '<%= config.bin %> hooks remove 3 --yes --json'
  ]
  static override strict = false
  static override args = { id: recordNumbers('number of the hook') }
  static override flags = {
    ...destroyingFlags
  }

  async run() {
    const { flags, argv } = await this.parse(HooksRemove)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    const [{ asked }, { destroyEach }, { withDatabase }, { commandOrigin }, rules, { hookHealth }, { viewListedHook }] =
      await Promise.all([
        import('../../asked.js'),
        import('../../each.js'),
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/hooks/hooks.js'),
        import('../../../areas/hooks/hooks.queries.js'),
        import('../../../areas/hooks/hooks.view.js')
      ])
    return withDatabase(() =>
      destroyEach(requireNumbers(argv), {
        how,
        dryRun,
        find: async id => viewListedHook(await asked('hook', id, () => rules.findHook(id)), await hookHealth(id)),
        loss: hook => `to remove hook ${hook.id} (${hook.url})`,
        destroy: async hook => {
          if (!dryRun) await rules.deleteHook(hook.id, commandOrigin())
          const what = `hook ${hook.id} (${hook.url}) with ${hook.pending_deliveries} waiting deliveries`
          this.log(`${dryRun ? 'would remove' : 'removed'} ${what}`)
          return dryRun ? { would_delete: hook } : { deleted: hook }
        }
      })
    )
  }
}

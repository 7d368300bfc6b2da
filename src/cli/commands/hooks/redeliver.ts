import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'
import { numbersIn } from '../../record-number.js'

export default class HooksRedeliver extends BaseCommand {
  static override summary = 'Send events again, as new deliveries'
  static override description =
    'They go at once, to a hook that rests as well. --dead repeats what a hook has lost; what was repeated before is left out. With --json: {redelivered, deliveries}: how many, and the numbers of the new ones.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> hooks redeliver 4711 4712',
    '<%= config.bin %> hooks redeliver --dead --hook 3 --json'
  ]
  static override args = { delivery: Args.string({ description: 'number of a delivery; several may be named' }) }
  static override flags = {
    dead: Flags.boolean({ description: 'all that --hook has lost', dependsOn: ['hook'] }),
    hook: Flags.integer({ description: 'number of a hook', min: 1, dependsOn: ['dead'] })
  }

  async run() {
    const { flags, argv } = await this.parse(HooksRedeliver)
    this.configure(flags)
    const ids = numbersIn(argv.map(String))
    if (ids === undefined || Boolean(flags.dead) === ids.length > 0 || ids.length > 1000) {
      this.error('name up to 1000 deliveries by their numbers, or all dead ones of a hook by --dead --hook ID', {
        exit: 2
      })
    }
    const [{ withDatabase }, { commandOrigin }, rules] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/hooks/redeliveries.js')
    ])
    const deliveries = await withDatabase(() =>
      flags.hook === undefined
        ? rules.redeliverAll(ids, commandOrigin())
        : rules.redeliverDead(flags.hook, commandOrigin())
    )
    this.log(`redelivered ${deliveries.length}${deliveries.length > 0 ? `: ${deliveries.join(' ')}` : ''}`)
    return { redelivered: deliveries.length, deliveries }
  }
}

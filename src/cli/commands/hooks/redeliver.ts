import * as rules from '../../../areas/ground/hooks/redeliveries.js'
import { BaseCommand } from '../../framework/base.js'
import { sortOut } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { numbersIn } from '../../input/record-number.js'
import { Args, Flags } from '../../oclif.js'

export default class HooksRedeliver extends BaseCommand {
  static override summary = 'Send events again, as new deliveries'
  static override description =
    'The new deliveries are sent at once, even if the hook is paused. --dead repeats every dead delivery of a hook that has not been repeated yet. With --json: {redelivered, deliveries}: the count and the numbers of the new deliveries; with numbers as arguments also failed: [{argument, error}].'
  static override strict = false
  static override examples = [
    '<%= config.bin %> hooks redeliver 4711 4712',
    '<%= config.bin %> hooks redeliver --dead --hook 3 --json'
  ]
  static override args = { delivery: Args.string({ description: 'number of a delivery; you can give several' }) }
  static override flags = {
    dead: Flags.boolean({ description: 'repeat all dead deliveries of --hook', dependsOn: ['hook'] }),
    hook: Flags.integer({ description: 'number of the hook, for --dead', min: 1, dependsOn: ['dead'] })
  }

  async run() {
    const { flags, argv } = await this.parse(HooksRedeliver)
    this.configure(flags)
    const ids = numbersIn(argv.map(String))
    if (ids === undefined || Boolean(flags.dead) === ids.length > 0 || ids.length > 1000) {
      this.error('give the numbers of up to 1000 deliveries, or --dead --hook ID for all dead deliveries of a hook', {
        exit: 2
      })
    }
    const { hook } = flags
    if (hook !== undefined) {
      const dead = () => rules.redeliverDead(hook, commandOrigin())
      return this.said(await withDatabase(() => orNotFound('hook', hook, dead)))
    }
    const redeliver = (deliveryId: number) =>
      orNotFound('delivery', deliveryId, () => rules.redeliver({ deliveryId }, commandOrigin()))
    const { done, failed } = await withDatabase(() => sortOut(ids, this.jsonEnabled(), redeliver))
    return { ...this.said(done.map(({ result }) => result.id)), failed }
  }

  private said(deliveries: readonly number[]) {
    this.log(`redelivered ${deliveries.length}${deliveries.length > 0 ? `: ${deliveries.join(' ')}` : ''}`)
    return { redelivered: deliveries.length, deliveries }
  }
}

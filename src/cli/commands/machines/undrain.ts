import { viewMachine } from '../../../areas/upkeep/machines/machine-states.js'
import { undrainMachine } from '../../../areas/upkeep/machines/machines.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import { machineName } from '../../output/machine-lines.js'

export default class MachinesUndrain extends BaseCommand {
  static override summary = 'Let a drained machine begin work again'
  static override description = 'With --json: {undrained}: the machine as in `machines list`.'
  static override examples = [
    '<%= config.bin %> machines undrain git2',
    '<%= config.bin %> machines undrain 4f1c --json'
  ]
  static override strict = false
  static override args = {
    machine: Args.string({ required: true, description: 'name or id of the machine; you can give several' })
  }

  async run() {
    const { flags, argv } = await this.parse(MachinesUndrain)
    this.configure(flags)
    const undrain = async (named: string) => {
      const view = viewMachine(await undrainMachine(named, commandOrigin()))
      this.log(`${machineName(view)} begins work again`)
      return { undrained: view }
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), undrain))
  }
}

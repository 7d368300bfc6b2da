import { viewMachine } from '../../../areas/upkeep/machines/machine-states.js'
import { drainMachine, partsWithoutMachine, whenDrained } from '../../../areas/upkeep/machines/machines.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'
import { machineName } from '../../output/machine-lines.js'

export default class MachinesDrain extends BaseCommand {
  static override summary = 'Let a machine finish its work and begin no more, for example before it is stopped'
  static override description =
    'Its worker finishes the jobs and builds that it holds. Its server answers 503 to /-/readiness, so that a proxy sends new requests to other servers, and still answers every request. Its storages move to other machines that reach them. A machine stays drained when it starts again: `machines undrain` ends that. With --json: {drained}: the machine as in `machines list`.'
  static override examples = [
    '<%= config.bin %> machines drain git2 --wait',
    '<%= config.bin %> machines drain 4f1c --wait --timeout 600 --json'
  ]
  static override strict = false
  static override args = {
    machine: Args.string({ required: true, description: 'name or id of the machine; you can give several' })
  }
  static override flags = {
    wait: Flags.boolean({ description: 'end only when the machine holds nothing that another one can take' }),
    timeout: Flags.integer({
      description: 'seconds that --wait waits at most',
      default: 3600,
      min: 1,
      max: 2_000_000
    })
  }

  async run() {
    const { flags, argv } = await this.parse(MachinesDrain)
    this.configure(flags)
    const drain = async (named: string) => {
      const begun = await drainMachine(named, commandOrigin())
      const machine = flags.wait
        ? await whenDrained(begun, {
            seconds: flags.timeout,
            onWait: holds => this.logToStderr(`waiting for ${machineName(viewMachine(begun))}: it holds ${holds}`)
          })
        : begun
      const view = viewMachine(machine)
      const kept =
        view.storages.length === 0 ? '' : `, except storages that no other machine reaches: ${view.storages.join(', ')}`
      this.log(flags.wait ? `${machineName(view)} holds nothing${kept}` : `drained ${machineName(view)}`)
      return { drained: view }
    }
    return withDatabase(async () => {
      const result = await doEach(argv.map(String), this.jsonEnabled(), drain)
      for (const missing of await partsWithoutMachine()) this.logToStderr(`gitstead: warning: ${missing}`)
      return result
    })
  }
}

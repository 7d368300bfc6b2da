import { viewMachine } from '../../../areas/upkeep/machines/machine-states.js'
import { forgetMachine, requireForgettable } from '../../../areas/upkeep/machines/machines.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'
import { machineName } from '../../output/machine-lines.js'

export default class MachinesForget extends BaseCommand {
  static override summary = 'Remove a machine that does not run any more from the list'
  static override description =
    'Fails with exit code 4 until two leases (queue.lease) have passed since the last process of the machine. If the machine comes back, it gets a new id. With --json: {forgotten}, or with --dry-run {would_forget}: the machine as in `machines list`.'
  static override examples = [
    '<%= config.bin %> machines forget git2 --dry-run',
    '<%= config.bin %> machines forget 4f1c --json'
  ]
  static override strict = false
  static override args = {
    machine: Args.string({ required: true, description: 'name or id of the machine; you can give several' })
  }
  static override flags = {
    'dry-run': Flags.boolean({ description: 'say whether it would be removed, and change nothing' })
  }

  async run() {
    const { flags, argv } = await this.parse(MachinesForget)
    this.configure(flags)
    const forget = async (named: string) => {
      if (flags['dry-run']) {
        const view = viewMachine(await requireForgettable(named))
        this.log(`would forget ${machineName(view)}`)
        return { would_forget: view }
      }
      const view = viewMachine(await forgetMachine(named, commandOrigin()))
      this.log(`forgot ${machineName(view)}`)
      return { forgotten: view }
    }
    return withDatabase(() => doEach(argv.map(String), this.jsonEnabled(), forget))
  }
}

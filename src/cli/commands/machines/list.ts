import { viewMachine } from '../../../areas/upkeep/machines/machine-states.js'
import { listMachines } from '../../../cluster/machine-rows.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { machineTable } from '../../output/machine-lines.js'

export default class MachinesList extends BaseCommand {
  static override summary = 'List the machines that share the database'
  static override description =
    'A machine is late when its lease has ended, and lost when others have taken over what it did. SERVER and WORKER say which processes it runs. With --json: {machines}, each with id, name, state, server, worker, address, version, processors, memory, load_average, running_jobs, clock_offset_ms, started_at, drained_at, lease_until.'
  static override examples = ['<%= config.bin %> machines list', '<%= config.bin %> machines list --json']

  async run() {
    const { flags } = await this.parse(MachinesList)
    this.configure(flags)
    const machines = (await withDatabase(listMachines)).map(viewMachine)
    this.log(machineTable(machines))
    return { machines }
  }
}

import { maintenanceMode, setMaintenanceMode } from '../../../areas/ground/settings/maintenance-mode.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'

export default class MaintenanceOn extends BaseCommand {
  static override summary = 'Refuse all writes and pushes with a message, but allow reads'
  static override description =
    'Clients that write get 503 with the message, from their next request on, on every server process. Signing in, clones and fetches still work. Writes that have already started finish. Commands, jobs and builds continue. Run the command again to change the message.'
  static override examples = [
    '<%= config.bin %> maintenance on --message "Moving to new disks until 21:00"',
    '<%= config.bin %> maintenance on --message "Read only until Monday" --json'
  ]
  static override flags = {
    message: Flags.string({
      char: 'm',
      required: true,
      description: 'the message for refused clients, up to 1,000 characters'
    })
  }

  async run() {
    const { flags } = await this.parse(MaintenanceOn)
    this.configure(flags)
    const mode = await withDatabase(async () => {
      await setMaintenanceMode(flags.message, commandOrigin())
      return maintenanceMode()
    })
    this.log(`maintenance is on: ${mode?.message}`)
    return { on: true, message: mode?.message, since: mode?.since }
  }
}

import { setMaintenanceMode } from '../../../areas/ground/settings/maintenance-mode.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'

export default class MaintenanceOff extends BaseCommand {
  static override summary = 'Accept writes and pushes again'
  static override description =
    'Ends the read-only mode of `gitstead maintenance on`. If it is already off, nothing changes.'
  static override examples = ['<%= config.bin %> maintenance off', '<%= config.bin %> maintenance off --json']

  async run() {
    const { flags } = await this.parse(MaintenanceOff)
    this.configure(flags)
    const changed = await withDatabase(() => setMaintenanceMode(null, commandOrigin()))
    this.log(changed ? 'maintenance is off' : 'maintenance was already off')
    return { on: false }
  }
}

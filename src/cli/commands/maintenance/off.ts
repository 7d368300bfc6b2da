import { BaseCommand } from '../../base.js'

export default class MaintenanceOff extends BaseCommand {
  static override summary = 'Accept writes and pushes again'
  static override description =
    'It ends what `gitstead maintenance on` began. When that is off already, nothing changes.'
  static override examples = ['<%= config.bin %> maintenance off', '<%= config.bin %> maintenance off --json']

  async run() {
    const { flags } = await this.parse(MaintenanceOff)
    this.configure(flags)
    const [{ withDatabase }, { commandOrigin }, { setMaintenanceMode }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/settings/maintenance-mode.js')
    ])
    const changed = await withDatabase(() => setMaintenanceMode(null, commandOrigin()))
    this.log(changed ? 'maintenance is off' : 'it was off already')
    return { on: false }
  }
}

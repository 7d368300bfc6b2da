import { requireFolder } from '../../home.js'
import { give } from '../appliance/control-socket.js'
import { BaseCommand } from '../framework/base.js'

export default class Stop extends BaseCommand {
  static override summary = 'Stop the appliance of this home, and wait until it is down'
  static override description =
    'Running requests, pushes and builds get the same time to finish as after SIGTERM. It succeeds if the appliance is already down. If a service manager restarts the appliance after a clean exit, stop it with the service manager instead.'
  static override examples = ['<%= config.bin %> stop', '<%= config.bin %> stop --home /srv/gitstead --json']

  async run() {
    const { flags } = await this.parse(Stop)
    this.configure(flags)
    requireFolder()
    const stopped = await give('stop')
    this.log(stopped ? 'stopped' : 'the appliance was not running')
    return { stopped }
  }
}

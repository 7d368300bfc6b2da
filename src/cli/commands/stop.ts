import { requireFolder } from '../../home.js'
import { give } from '../appliance/control-socket.js'
import { BaseCommand } from '../framework/base.js'

export default class Stop extends BaseCommand {
  static override summary = 'Stop the appliance of this home, and wait until it is down'
  static override description =
    'Running requests, pushes and builds get the time that SIGTERM gives them. A home whose appliance is down already is fine. A service manager that starts the appliance again after a clean end does so here too: there, use its own stop.'
  static override examples = ['<%= config.bin %> stop', '<%= config.bin %> stop --home /srv/gitstead --json']

  async run() {
    const { flags } = await this.parse(Stop)
    this.configure(flags)
    requireFolder()
    const stopped = await give('stop')
    this.log(stopped ? 'stopped' : 'it was not running')
    return { stopped }
  }
}

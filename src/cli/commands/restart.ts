import { Unavailable } from '../../errors.js'
import { requireFolder } from '../../home.js'
import { give } from '../appliance/control-socket.js'
import { BaseCommand } from '../framework/base.js'

export default class Restart extends BaseCommand {
  static override summary = 'Restart the server and the worker of this home with the current configuration'
  static override description =
    'Use it after a change of config.yaml or an upgrade of the program. The database keeps running, so changes of database settings need `gitstead stop` and `gitstead up`. The server is unavailable for about a second. An invalid configuration is rejected and changes nothing. The exit code is 5 if no appliance is running.'
  static override examples = ['<%= config.bin %> restart', '<%= config.bin %> restart --json']

  async run() {
    const { flags } = await this.parse(Restart)
    this.configure(flags)
    requireFolder()
    if (!(await give('restart')))
      throw new Unavailable('no appliance is running on this home: start it with gitstead up')
    this.log('restarted')
    return { restarted: true }
  }
}

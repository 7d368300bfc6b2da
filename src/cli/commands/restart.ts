import { Unavailable } from '../../errors.js'
import { requireFolder } from '../../home.js'
import { give } from '../appliance/control-socket.js'
import { BaseCommand } from '../framework/base.js'

export default class Restart extends BaseCommand {
  static override summary = 'Start the server and the worker of this home anew, with the configuration of now'
  static override description =
    'For a changed config.yaml or a new version of the program. The database goes on, so other settings of the database need `gitstead stop` and `gitstead up`. While the server starts, for about a second, nothing answers. A wrong configuration is refused, and changes nothing. Exit code 5 when no appliance runs.'
  static override examples = ['<%= config.bin %> restart', '<%= config.bin %> restart --json']

  async run() {
    const { flags } = await this.parse(Restart)
    this.configure(flags)
    requireFolder()
    if (!(await give('restart'))) throw new Unavailable('no appliance runs on this home: start it with gitstead up')
    this.log('restarted')
    return { restarted: true }
  }
}

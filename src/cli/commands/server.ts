import { becomeProcess } from '../appliance/run-process.js'
import { BaseCommand } from '../framework/base.js'
import { Flags } from '../oclif.js'

export default class Server extends BaseCommand {
  static override summary = 'Run one server process, for a service manager or for several machines'
  static override enableJsonFlag = false
  static override examples = ['<%= config.bin %> server', '<%= config.bin %> server --host 0.0.0.0 --port 8081']
  static override flags = {
    host: Flags.string({ description: 'the address to listen at' }),
    port: Flags.integer({ description: 'the port to listen at; 0 means any free port', min: 0, max: 65535 })
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Server)
    this.configure(flags)
    await becomeProcess('server')
  }
}

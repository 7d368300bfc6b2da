import { Flags } from '@oclif/core'
import { BaseCommand } from '../base.js'

export default class Server extends BaseCommand {
  static override summary = 'Run one HTTP server process, for service managers and for several machines'
  static override enableJsonFlag = false
  static override examples = ['<%= config.bin %> server', '<%= config.bin %> server --host 0.0.0.0 --port 8081']
  static override flags = {
    host: Flags.string({ description: 'address to listen on' }),
    port: Flags.integer({ description: 'port to listen on', min: 0, max: 65535 })
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Server)
    this.configure(flags)
    const { becomeProcess } = await import('../become.js')
    await becomeProcess('server')
  }
}

import { Flags } from '@oclif/core'
import { BaseCommand } from '../base.js'

export default class Up extends BaseCommand {
  static override summary = 'Run the whole appliance in the foreground: database, server and worker'
  static override description =
    'It prints `ready http://HOST:PORT` on stdout once all answer, restarts a part that dies, and stops cleanly on SIGTERM.'
  static override enableJsonFlag = false
  static override examples = [
    '<%= config.bin %> up',
    '<%= config.bin %> up --home /srv/gitstead --host 0.0.0.0 --port 80'
  ]
  static override flags = {
    host: Flags.string({ description: 'the address to listen at' }),
    port: Flags.integer({ description: 'the port to listen at; 0 takes any free port', min: 0, max: 65535 })
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Up)
    this.configure(flags)
    const { log, nameProcess, titleProcess } = await import('../../log.js')
    nameProcess('up')
    titleProcess()
    const { startAppliance } = await import('../appliance.js')
    const untilStopped = new Promise<void>(resolve => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve())
    })
    const appliance = startAppliance()
    try {
      const url = await Promise.race([appliance.ready, untilStopped])
      if (url) {
        process.stdout.write(`ready ${url}\n`)
        log().info({ url }, 'appliance ready')
      }
      await untilStopped
      log().info('appliance stops')
    } finally {
      await appliance.stop()
    }
  }
}

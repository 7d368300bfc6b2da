import { becomeProcess } from '../appliance/run-process.js'
import { BaseCommand } from '../framework/base.js'

export default class Worker extends BaseCommand {
  static override summary = 'Run one worker process, which runs background jobs and builds'
  static override enableJsonFlag = false
  static override examples = [
    '<%= config.bin %> worker',
    'GITSTEAD_QUEUE_CONCURRENCY_BUILDS=8 <%= config.bin %> worker'
  ]

  async run(): Promise<void> {
    const { flags } = await this.parse(Worker)
    this.configure(flags)
    await becomeProcess('worker')
  }
}
